import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../../../test/fakes/load-settings.ts'
import { findDockerEndpoint, listDockerFlags, toDockerSettings } from './docker-flags.ts'

describe('toDockerSettings()', () => {
  test('has the folders of old where no other are given, and the network of Docker', async () => {
    const { flags } = await loadSettings([])
    assert.deepEqual(toDockerSettings(flags), {
      pauseImage: '',
      pullProgressMs: 60_000,
      cni: false,
      network: {
        configurations: '/etc/cni/net.d',
        programs: ['/opt/cni/bin'],
        cache: '/var/lib/cni/cache',
        mtu: 0,
      },
    })
    assert.deepEqual(listDockerFlags(flags), [])
  })

  test('follows the flags, by their older names too', async () => {
    const { flags } = await loadSettings([
      '--network-plugin=cni',
      '--network-plugin-dir=/plugins',
      '--cni-bin-dir=/more,/yet',
      '--network-container-image=pause:1',
      '--network-plugin-mtu=1400',
    ])
    const { cni, network, pauseImage } = toDockerSettings(flags)
    assert.deepEqual([cni, network.programs, network.mtu], [true, ['/more', '/yet', '/plugins'], 1400])
    assert.equal(pauseImage, 'pause:1')
    assert.deepEqual(listDockerFlags(flags), [
      'network-container-image',
      'network-plugin',
      'network-plugin-mtu',
      'cni-bin-dir',
      'network-plugin-dir',
    ])
  })
})

describe('flags of Docker that do nothing', () => {
  const warningsOf = async (...argv: string[]) =>
    (await loadSettings(argv)).warnings.filter((text) => text.startsWith('Flag'))

  test('are those of CNI without CNI, each with a warning', async () => {
    const flags = [
      '--cni-conf-dir=/a',
      '--cni-bin-dir=/b',
      '--network-plugin-dir=/c',
      '--cni-cache-dir=/d',
      '--network-plugin-mtu=1400',
    ]
    const warnings = await warningsOf(...flags, '--container-runtime=docker')
    assert.deepEqual(
      warnings.toSorted(),
      ['cni-bin-dir', 'cni-cache-dir', 'cni-conf-dir', 'network-plugin-dir', 'network-plugin-mtu'].map(
        (name) => `Flag --${name} has no effect without --network-plugin=cni`,
      ),
    )
    assert.deepEqual(await warningsOf(...flags, '--network-plugin=cni'), [])
  })

  test('and --container-runtime=remote, with which any runtime is taken', async () => {
    const { flags } = await loadSettings(['--container-runtime=remote'])
    assert.deepEqual([listDockerFlags(flags), findDockerEndpoint(flags)], [[], undefined])
    assert.deepEqual(await warningsOf('--container-runtime=remote'), [
      'Flag --container-runtime=remote has no effect: it was removed in Kubernetes 1.27, leave it out',
    ])
  })
})

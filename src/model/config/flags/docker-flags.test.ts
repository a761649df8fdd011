import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings } from '../../../../test/fakes/load-settings.ts'
import { listDockerFlags, toDockerSettings } from './docker-flags.ts'

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

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { parse } from 'yaml'
import { findKernelDifferences } from '../../../src/system/machine/kernel-settings.ts'
import { loadSettings, shown } from '../../../test/fakes/load-settings.ts'
import { cisChecks } from '../../../test/fixtures/cis-checks.ts'
import { buildDebianPackage } from './build-debian-package.ts'
import { debianPackages } from './debian-packages.ts'
import { EmptyRoot } from './empty-root.ts'

const folder = mkdtempSync(join(tmpdir(), 'deckhand-debian-'))
after(() => rmSync(folder, { recursive: true }))
// In the place of the executable: writes down how it was called.
const standIn = join(folder, 'stand-in')
writeFileSync(standIn, '#!/bin/sh\necho "${0##*/} $*" >> /calls\n', { mode: 0o755 })

/** The paths of both packages. */
function build(version: string, name = version): readonly string[] {
  const place = join(folder, name)
  mkdirSync(place)
  return debianPackages({
    executable: standIn,
    architecture: 'amd64',
    version,
    epoch: 1_000_000_000,
    texts: new Map([
      ['kubelet.8', '.TH KUBELET 8\n'],
      ['deckhand.1', '.TH DECKHAND 1\n'],
      ['kubelet.bash', 'complete kubelet\n'],
      ['deckhand.bash', 'complete deckhand\n'],
    ]),
    changes: '# Changes\n',
    billOfMaterials: '{}\n',
    notices: 'MIT\n',
  }).map((each) =>
    buildDebianPackage(each, { work: join(place, 'work'), folder: place, epoch: 1_000_000_000, compression: 'none' }),
  )
}

const first = build('1.0.0')
const second = build('1.0.1')
const field = (path: string, name: string) =>
  execFileSync('dpkg-deb', ['--field', path, name], { encoding: 'utf8' }).trim()
const list = (path: string) => execFileSync('dpkg-deb', ['--contents', path], { encoding: 'utf8' })
const [, kubelet = ''] = first

describe('the Debian packages', () => {
  test('have the same bytes when they are built again, elsewhere', () => {
    const again = build('1.0.0', 'again')
    for (const [index, path] of first.entries())
      assert.ok(readFileSync(path).equals(readFileSync(again[index] ?? '')), path)
  })

  test('belong to root, and hold what only root may read as the CIS benchmark asks for', () => {
    for (const line of first.flatMap((path) => list(path).trimEnd().split('\n'))) assert.match(line, /^\S+ root\/root /)
    assert.match(list(kubelet), /^-rw------- .* \.\/usr\/lib\/systemd\/system\/kubelet\.service$/m)
    assert.match(list(kubelet), /^-rw------- .* \.\/etc\/kubernetes\/kubelet\/config$/m)
  })

  test('are in the place of the kubelet of kubernetes.io, for those that need it too', () => {
    assert.match(field(kubelet, 'Provides'), /^kubelet \(= 1\.36\.\d+\)$/)
    for (const name of ['Conflicts', 'Replaces']) assert.match(field(kubelet, name), /^kubelet,/)
    assert.match(field(kubelet, 'Depends'), /^deckhand \(= 1\.0\.0-1\),/)
    assert.equal(field(first[0] ?? '', 'Conflicts'), '')
  })
})

describe('the configuration of the Debian package', () => {
  const files = join(import.meta.dirname, 'deckhand-kubelet')
  const text = readFileSync(join(files, 'config.yaml'), 'utf8')
  const unit = readFileSync(join(files, 'kubelet.service'), 'utf8')
  const flags = [...unit.matchAll(/^Environment="KUBELET_\w+=(.*)"$/gm)].flatMap(([, value = '']) => value.split(' '))
  const load = () =>
    loadSettings(flags, { '/etc/kubernetes/kubelet/config': text, '/etc/kubernetes/kubelet/config.d': null })

  test('is taken by the agent with the flags of the unit, without a warning', async () => {
    assert.equal(flags.length, 4)
    assert.deepEqual((await load()).warnings, [])
  })

  for (const [what, path, isGood] of cisChecks) {
    test(`spells out for the CIS benchmark: ${what}`, async () => {
      const written = path
        .split('.')
        .reduce<unknown>((found, name) => (found as Readonly<Record<string, unknown>>)[name], parse(text))
      assert.ok(written !== undefined && isGood(written), `${path} is ${JSON.stringify(written)}`)
      const value = shown(await load(), path)
      assert.ok(value === undefined || isGood(value), `${path} is ${JSON.stringify(value)}`)
    })
  }

  test('leaves the name of the node to the machine, as the CIS benchmark asks for (4.2.7)', () => {
    assert.equal(unit.includes('--hostname-override'), false)
  })

  // kube-bench reads the file for the kubeconfig of kube-proxy too, by its path: 4.1.3, 4.1.4 and 4.3.1.
  test('has nothing that a checker takes for a setting of kube-proxy', () => {
    assert.equal('metricsBindAddress' in (parse(text) as object), false)
  })

  test('sets what the agent asks of the kernel', () => {
    const root = join(folder, 'sys')
    for (const [, name = '', value = ''] of readFileSync(join(files, 'sysctl.conf'), 'utf8').matchAll(
      /^(\S+) = (\d+)$/gm,
    )) {
      const path = join(root, name.replaceAll('.', '/'))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, value)
    }
    assert.deepEqual(findKernelDifferences(root), [])
  })
})

describe('on a machine with systemd', () => {
  const root = new EmptyRoot(join(folder, 'root'))
  const changed = '# changed by hand\n'

  test('installation enables and starts the agent, and not the standalone node', () => {
    assert.deepEqual(
      root.dpkg(['-i', ...first]).filter((call) => !call.includes('daemon-reload')),
      [
        'deb-systemd-helper purge kubelet.service',
        'deb-systemd-helper update-state deckhand.service',
        'deb-systemd-helper debian-installed kubelet.service',
        'deb-systemd-helper unmask kubelet.service',
        'deb-systemd-helper --quiet was-enabled kubelet.service',
        'deb-systemd-helper enable kubelet.service',
        'deb-systemd-invoke start kubelet.service',
      ],
    )
    for (const path of ['usr/bin/kubelet', 'usr/share/man/man8/kubelet.8.gz', 'etc/kubernetes/manifests'])
      assert.ok(root.exists(path), path)
  })

  test('an upgrade restarts what runs, starts nothing else, and keeps a changed configuration', () => {
    root.put('/etc/kubernetes/kubelet/config', changed)
    const calls = root.dpkg(['-i', ...second])
    assert.deepEqual(
      calls.filter((call) => call.startsWith('deb-systemd-invoke')),
      ['deb-systemd-invoke try-restart deckhand.service', 'deb-systemd-invoke try-restart kubelet.service'],
    )
    assert.equal(
      calls.some((call) => /stop|shutdown|down/.test(call)),
      false,
    )
    assert.equal(root.read('/etc/kubernetes/kubelet/config'), changed)
  })

  test('removal ends the agent and leaves its pods; with DECKHAND_PODS=stop it ends them first', () => {
    const removal = ['--remove', 'deckhand-kubelet']
    assert.deepEqual(root.dpkg(removal).slice(0, 1), ['deb-systemd-invoke stop kubelet.service'])
    root.dpkg(['-i', second[1] ?? ''])
    // There are none to end.
    assert.deepEqual(root.dpkg(removal, { DECKHAND_PODS: 'stop' }).slice(0, 1), [
      'deb-systemd-invoke stop kubelet.service',
    ])
    root.dpkg(['-i', second[1] ?? ''])
    root.put('/var/lib/kubelet/pods/a/etc-hosts', '')
    assert.deepEqual(root.dpkg(removal, { DECKHAND_PODS: 'stop' }).slice(0, 2), [
      'deckhand shutdown --root-dir /var/lib/kubelet',
      'deb-systemd-invoke stop kubelet.service',
    ])
    assert.equal(root.read('/etc/kubernetes/kubelet/config'), changed)
  })

  // dpkg says "upgrade" then, with the version that was removed; another agent's package may have disabled the unit meanwhile.
  test('what comes back after a removal is enabled and started as at first', () => {
    const calls = root.dpkg(['-i', second[1] ?? ''])
    for (const call of [
      'deb-systemd-helper purge kubelet.service',
      'deb-systemd-helper enable kubelet.service',
      'deb-systemd-invoke start kubelet.service',
    ])
      assert.ok(calls.includes(call), `${call} is not among ${calls.join(', ')}`)
    root.dpkg(['--remove', 'deckhand-kubelet'])
  })

  test('removal ends the service of the standalone node and leaves its pods; with DECKHAND_PODS=stop it takes the node down', () => {
    root.put('/var/lib/deckhand/node.json', '{}')
    assert.deepEqual(root.dpkg(['--remove', 'deckhand']).slice(0, 1), ['deb-systemd-invoke stop deckhand.service'])
    root.dpkg(['-i', second[0] ?? ''])
    assert.deepEqual(root.dpkg(['--remove', 'deckhand'], { DECKHAND_PODS: 'stop' }).slice(0, 2), [
      'deb-systemd-invoke stop deckhand.service',
      'deckhand down',
    ])
    assert.ok(root.exists('var/lib/deckhand/node.json'))
  })

  test('a purge removes what is ours alone, and no data of volumes', () => {
    root.put('/var/lib/kubelet/deckhand/finished-pods/a', '')
    root.put('/var/lib/kubelet/pods/a/volumes/data', '')
    root.put('/var/lib/deckhand/volumes/claim/data', '')
    root.dpkg(['--purge', 'deckhand-kubelet', 'deckhand'])
    const left = ['var/lib/kubelet/pods/a/volumes/data', 'var/lib/deckhand/volumes/claim/data']
    const gone = [
      'var/lib/kubelet/deckhand',
      'var/lib/deckhand/node.json',
      'etc/kubernetes/kubelet/config',
      'etc/default/deckhand',
    ]
    assert.deepEqual(
      [...left, ...gone].filter((path) => root.exists(path)),
      left,
    )
  })
})

describe('on a machine with the kubelet of kubernetes.io', () => {
  const root = new EmptyRoot(join(folder, 'replaced'))
  const place = join(folder, 'other')
  mkdirSync(place)
  const control = {
    Package: 'kubelet',
    Version: '1.36.4-1.1',
    Architecture: 'amd64',
    Maintainer: 'a <a@b.c>',
    Description: 'a',
  }
  const files = ['/usr/bin/kubelet', '/usr/lib/systemd/system/kubelet.service'].map((path) => ({
    path,
    mode: 0o755,
    content: 'other',
  }))
  const options = { work: join(place, 'work'), folder: place, epoch: 0, compression: 'none' } as const
  const other = buildDebianPackage({ control, files, scripts: {} }, options)

  test('ours takes its place at once, and gives it back', () => {
    root.dpkg(['-i', other])
    root.put('/etc/default/kubelet', 'KUBELET_EXTRA_ARGS=--v=2\n')
    assert.equal(root.read('/usr/bin/kubelet'), 'other')
    assert.ok(root.dpkg(['-i', ...first]).includes('deb-systemd-invoke start kubelet.service'))
    assert.equal(root.read('/usr/bin/kubelet'), readFileSync(standIn, 'utf8'))
    assert.match(root.read('/usr/lib/systemd/system/kubelet.service'), /Deckhand/)
    const calls = root.dpkg(['--remove', 'deckhand-kubelet'])
    // A masked unit would keep the other one from starting.
    assert.equal(
      calls.some((call) => call.includes(' mask ')),
      false,
    )
    root.dpkg(['-i', other])
    assert.equal(root.read('/usr/bin/kubelet'), 'other')
    root.dpkg(['--purge', 'deckhand-kubelet'])
    assert.equal(root.read('/usr/lib/systemd/system/kubelet.service'), 'other')
    assert.equal(root.read('/etc/default/kubelet'), 'KUBELET_EXTRA_ARGS=--v=2\n')
  })
})

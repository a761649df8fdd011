import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { buildDebianPackage } from './build-debian-package.ts'
import { debianPackages } from './debian-packages.ts'

const folder = mkdtempSync(join(tmpdir(), 'deckhand-apt-'))
after(() => rmSync(folder, { recursive: true }))
const executable = join(folder, 'executable')
writeFileSync(executable, '')
const parts = { changes: '', billOfMaterials: '', notices: '', texts: new Map<string, string>() }
const own = debianPackages({ executable, architecture: 'amd64', version: '1.0.0', epoch: 1, ...parts })
const debs = own.map((each) =>
  buildDebianPackage(each, { work: join(folder, 'work'), folder, epoch: 1, compression: 'none' }),
)

const stanza = (name: string, fields: readonly string[]) =>
  [`Package: ${name}`, 'Status: install ok installed', 'Maintainer: a <a@b.c>', 'Description: a', ...fields, ''].join(
    '\n',
  )
const versioned = (version: string, ...rest: readonly string[]) => [
  `Version: ${version}`,
  'Architecture: amd64',
  ...rest,
]

/** What apt would do on a machine with these packages, with nothing to fetch anything from. */
function plan(installed: readonly string[], ...args: readonly string[]): readonly string[] {
  const state = mkdtempSync(join(folder, 'apt-'))
  for (const name of ['lists/partial', 'cache/archives/partial', 'etc'])
    mkdirSync(join(state, name), { recursive: true })
  writeFileSync(join(state, 'status'), `${installed.join('\n')}\n`)
  // Marks what came only because others need it.
  writeFileSync(join(state, 'extended_states'), 'Package: kubernetes-cni\nArchitecture: amd64\nAuto-Installed: 1\n')
  const places = {
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
    'Dir::Etc': join(state, 'etc'),
    'APT::Architecture': 'amd64',
    'APT::Architectures': 'amd64',
    'APT::Install-Recommends': 'false',
  }
  const options = Object.entries(places).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const output = execFileSync('apt-get', [...options, '--simulate', '--yes', ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  })
  return [...output.matchAll(/^(Inst|Remv) (\S+)/gm)].map(([, what, name]) => `${what} ${name}`)
}

describe('apt, on a node with the packages of kubernetes.io', () => {
  const needed = (own[0]?.control['Depends'] ?? '')
    .split(', ')
    .map((each) => stanza(each.replace(/ .*/, ''), versioned('99')))
  const plugins = stanza('kubernetes-cni', versioned('1.7.1-1.1'))
  const kubeadm = stanza('kubeadm', versioned('1.36.4-1.1', 'Depends: kubelet (>= 1.30.0)'))
  const kubelet = stanza('kubelet', versioned('1.36.4-1.1', 'Depends: kubernetes-cni (>= 1.2.0)'))

  test('puts ours in the place of the kubelet, and keeps kubeadm', () => {
    assert.deepEqual(plan([...needed, plugins, kubeadm, kubelet], 'install', ...debs).toSorted(), [
      'Inst deckhand',
      'Inst deckhand-kubelet',
      'Remv kubelet',
    ])
  })

  test('does not take the plugins of the network away afterwards', () => {
    const ours = own.map(({ control }) =>
      stanza(
        control['Package'] ?? '',
        Object.entries(control).flatMap(([name, value]) =>
          /^(?:Version|Architecture|Depends|Recommends|Provides)$/.test(name) ? [`${name}: ${value}`] : [],
        ),
      ),
    )
    assert.deepEqual(plan([...needed, plugins, kubeadm, ...ours], 'autoremove'), [])
    assert.deepEqual(plan([...needed, plugins], 'autoremove'), ['Remv kubernetes-cni'])
  })
})

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { machineArchitecture } from '../../src/standalone/images/import-images.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'
import { findArtefact } from './artefacts.ts'

interface Layered {
  readonly layers: readonly { readonly digest: string }[]
}

const node = findArtefact(`deckhand_*_${machineArchitecture}.deb`)
const kubelet = findArtefact('deckhand-kubelet_*_all.deb')

/** A Debian of its own, with the packages that ours depend on and without Node or npm: the lowest layer of the container image. */
function unpackDebian(folder: string): string {
  const layout = join(folder, 'layout')
  const root = join(folder, 'root')
  for (const path of [layout, root]) mkdirSync(path)
  execFileSync('tar', ['-xf', findArtefact(`deckhand-image-linux-${machineArchitecture}.tar`), '-C', layout])
  const manifest = readdirSync(join(layout, 'blobs/sha256'))
    .map((name) => join(layout, 'blobs/sha256', name))
    .find((path) => readFileSync(path, 'latin1').startsWith('{"schemaVersion"'))
  const { layers } = JSON.parse(readFileSync(manifest ?? '', 'utf8')) as Layered
  const blob = join(layout, 'blobs/sha256', layers[0]?.digest.slice('sha256:'.length) ?? '')
  execFileSync('tar', ['-xzf', blob, '-C', root])
  return root
}

/** The same package as a later version. */
function raiseVersion(path: string, folder: string): string {
  const tree = mkdtempSync(join(folder, 'later-'))
  const output = `${tree}.deb`
  execFileSync('dpkg-deb', ['--raw-extract', path, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replaceAll(/\d+\.\d+\.\d+-1\b/g, '99.0.0-1'))
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, output], { stdio: 'ignore' })
  rmSync(tree, { recursive: true })
  return output
}

describe('the Debian packages, in a Debian without Node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-debian-'))
  let root = ''
  const inside = (...argv: readonly string[]) => spawnSync('chroot', [root, ...argv], { encoding: 'utf8' })
  const dpkg = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync('dpkg', [`--root=${root}`, ...args], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return stderr
  }
  before(() => {
    root = unpackDebian(folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  test('install with nothing but what they depend on', () => {
    assert.equal(inside('sh', '-c', 'command -v node npm').stdout, '')
    dpkg('-i', node, kubelet)
    assert.equal(inside('kubelet', '--version').stdout, 'Kubernetes v1.36.4\n')
    assert.match(inside('deckhand', 'version').stdout, /^deckhand \d/)
    assert.match(inside('dpkg', '--verify').stdout, /^(?!.*deckhand)/)
    assert.equal(inside('stat', '-c', '%a %U:%G', '/etc/kubernetes/kubelet/config').stdout, '600 root:root\n')
  })

  test('run a pod, which goes on over an upgrade and the removal of both', async () => {
    const binary = join(root, 'usr/bin/kubelet')
    await using machine = await TestNode.start({ binary })
    await machine.lab.manifests.write('web', testPod('web'))
    await machine.ready('web')
    const before = await machine.processes()
    assert.ok(before.size > 0)
    dpkg('-i', raiseVersion(node, folder), raiseVersion(kubelet, folder))
    assert.match(inside('dpkg-query', '-W', 'deckhand').stdout, /99\.0\.0-1/)
    await machine.agent.kill()
    await machine.startAgent()
    await machine.agent.healthy()
    await machine.ready('web')
    assert.deepEqual(await machine.processes(), before)
    await machine.agent.kill()
    dpkg('--remove', 'deckhand-kubelet', 'deckhand')
    assert.notEqual(inside('kubelet', '--version').status, 0)
    assert.deepEqual(await machine.processes(), before)
    // The lab expects an agent that ends by its own.
    dpkg('-i', node, kubelet)
    await machine.startAgent()
    await machine.agent.healthy()
  })
})

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { machineArchitecture } from '../../../src/standalone/images/import-images.ts'
import { buildExecutable } from '../../../tools/package/build-executable.ts'
import { buildDebianPackage } from '../../../tools/package/debian/build-debian-package.ts'
import { debianPackages } from '../../../tools/package/debian/debian-packages.ts'
import { buildContainerImage } from '../../../tools/package/image/container-image.ts'
import { stripProgram } from '../../../tools/package/strip-program.ts'
import { EmptyMachine, furnishRoot } from '../../package/empty-machine.ts'
import { runNodeInContainer } from '../../package/node-in-container.ts'
import { TestNode } from '../support/test-node.ts'

const repository = join(import.meta.dirname, '../../..')
const dist = join(repository, 'dist')
const VERSION = '1.0.0'
const EPOCH = 1_000_000_000

// Nothing of Node, npm or this checkout is in the root of the machine: what runs there came with the artefact. test/package has those of "npm run package".
describe('each artefact alone, on a machine without Node and npm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-artefacts-'))
  const executable = join(folder, 'deckhand')
  const base = join(folder, 'base.tar')
  const cleanup = new AsyncDisposableStack()
  let debs: readonly string[] = []
  let node: TestNode
  let machine: EmptyMachine
  after(async () => {
    await cleanup.disposeAsync()
    rmSync(folder, { recursive: true })
  })
  before(async () => {
    buildIfEdited()
    const work = join(folder, 'work')
    // As packages have it: that of npm is a quarter larger, and is read, packed and hashed many times.
    const stripped = join(folder, 'node')
    copyFileSync(process.execPath, stripped)
    stripProgram(stripped)
    await buildExecutable({ dist, work, node: stripped, run: [process.execPath], output: executable })
    rmSync(stripped)
    const root = furnishRoot(join(folder, 'root'))
    root.copyLibraries(executable)
    execFileSync('tar', ['-cf', base, '-C', root.path, '.'])
    node = cleanup.use(await TestNode.start())
    machine = await EmptyMachine.start(node.lab, root)
    assert.equal((await machine.run('sh', '-c', 'command -v node npm')).stdout, '')
  })

  test('the executable starts a node, runs a pod and ends it', async () => {
    linkSync(executable, join(machine.root.path, 'deckhand-linux'))
    await machine.runNode('/deckhand-linux')
    await machine.endNode('/deckhand-linux')
  })

  test('the Debian packages do, and their removal ends the pod where it is asked to', async () => {
    const parts = { changes: '', billOfMaterials: '', notices: '', texts: new Map<string, string>() }
    const input = { executable, architecture: machineArchitecture, version: VERSION, epoch: EPOCH, ...parts }
    const options = { work: join(folder, 'debian'), folder, epoch: EPOCH, compression: 'none' } as const
    debs = debianPackages(input).map((each) => buildDebianPackage(each, options))
    // Temporary files of tests may be in memory, and these are large.
    rmSync(options.work, { recursive: true })
    const installed = await machine.dpkg('-i', ...debs)
    assert.equal(installed.exitCode, 0, installed.stderr)
    await machine.runNode('deckhand')
    const removed = await machine.dpkg('DECKHAND_PODS=stop', '--purge', 'deckhand-kubelet', 'deckhand')
    assert.equal(removed.exitCode, 0, removed.stderr)
    await machine.hasNoNode()
    assert.deepEqual(
      ['usr/bin/deckhand', 'usr/bin/kubelet', 'var/lib/deckhand'].filter((path) => machine.root.exists(path)),
      [],
    )
  })

  test('the npm package does, with the Node that npm lays beside it', async () => {
    const pack = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]
    execFileSync('npm', pack, { cwd: repository, stdio: 'pipe' })
    const archive = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
    const modules = join(machine.root.path, 'project/node_modules')
    mkdirSync(join(modules, 'deckhand'), { recursive: true })
    execFileSync('tar', ['-xzf', archive, '-C', join(modules, 'deckhand'), '--strip-components=1'])
    const beside = `node-linux-${process.arch}`
    cpSync(join(repository, 'node_modules', beside), join(modules, beside), { recursive: true })
    const command = '/project/node_modules/deckhand/bin/deckhand'
    await machine.runNode(command)
    await machine.endNode(command)
    rmSync(modules, { recursive: true })
  })

  test('the container image does, in a privileged container', async () => {
    const output = join(folder, 'image.tar')
    const common = {
      version: VERSION,
      architecture: machineArchitecture,
      epoch: EPOCH,
      base,
      compression: 'none',
    } as const
    const work = join(folder, 'image')
    await buildContainerImage({ ...common, debianPackage: debs[0] ?? '', work, output })
    for (const path of [work, base, ...debs]) rmSync(path, { recursive: true })
    const version = await runNodeInContainer(node, output, `deckhand.local/deckhand:${VERSION}`)
    assert.match(version, /^deckhand \d/)
  })
})

/** "npm test" has built already; who runs this file alone after an edit has not. */
function buildIfEdited(): void {
  const edited = spawnSync('find', [join(repository, 'src'), '-newer', join(dist, 'made'), '-print', '-quit'])
  if (edited.status !== 0 || edited.stdout.length > 0)
    execFileSync(process.execPath, [join(repository, 'tools/build.ts')], { stdio: 'inherit' })
}

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { Script } from 'node:vm'
import { buildPage } from '../build-page.ts'
import { buildPrograms } from '../build-programs.ts'
import { writePrograms } from '../program/write-programs.ts'
import { buildExecutable } from './build-executable.ts'
import { buildDebianPackage } from './debian/build-debian-package.ts'
import { debianPackages } from './debian/debian-packages.ts'
import { EmptyRoot } from './debian/empty-root.ts'
import { stripProgram } from './strip-program.ts'

const root = join(import.meta.dirname, '../..')

// In an empty root there is no Node, no npm and none of our files: what runs there came with the packages.
describe('the executable, installed by dpkg', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-executable-'))
  const output = join(folder, 'deckhand')
  const emptyRoot = new EmptyRoot(join(folder, 'root'))
  const run = emptyRoot.run.bind(emptyRoot)
  after(() => rmSync(folder, { recursive: true }))
  before(async () => {
    const dist = join(folder, 'dist')
    await buildPrograms(root, join(folder, 'built'))
    await writePrograms(join(folder, 'built'), dist, [])
    await buildPage(root, join(dist, 'page'))
    const node = join(folder, 'node')
    copyFileSync(process.execPath, node)
    stripProgram(node)
    await buildExecutable({ dist, work: join(folder, 'work'), node, run: [process.execPath], output })
    emptyRoot.copyLibraries(output)
    const epoch = 1_000_000_000
    const parts = { changes: '', billOfMaterials: '', notices: '', texts: new Map<string, string>() }
    const packages = debianPackages({ executable: output, architecture: 'amd64', version: '1.0.0', epoch, ...parts })
    const options = { work: join(folder, 'debian'), folder, epoch, compression: 'none' } as const
    emptyRoot.dpkg(['-i', ...packages.map((each) => buildDebianPackage(each, options))])
  })

  test('is two commands, by its name or by its first argument', () => {
    assert.equal(run(['/usr/bin/kubelet', '--version']).stdout, 'Kubernetes v1.36.4\n')
    assert.equal(run(['/usr/bin/deckhand', 'kubelet', '--version']).stdout, 'Kubernetes v1.36.4\n')
    assert.match(run(['/usr/bin/deckhand', 'version']).stdout, /^deckhand \d+\.\d+\.\d+ \(.*Node 26\./)
    assert.match(run(['/usr/bin/kubelet', '--help']).stdout, /--container-runtime-endpoint/)
  })

  test('has what is loaded late, and names file and line of what is wrong', () => {
    emptyRoot.put('/config.yaml', 'kind: KubeletConfiguration\nmaxPods: [\n')
    const { stderr, status } = run(['/usr/bin/kubelet', '--config=/config.yaml'])
    assert.match(stderr, /config\.yaml: expected YAML or JSON: Flow sequence .* at line 3/)
    assert.equal(status, 1)
  })

  test('reads the configuration that came with it', () => {
    const { stderr } = run([
      '/usr/bin/kubelet',
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/etc/kubernetes/kubelet/config',
    ])
    assert.match(stderr, /its settings are protected \(protectKernelDefaults\)/)
  })

  test('is its own guarded helper', () => {
    const request = JSON.stringify({ operation: 'kindOf', request: { path: '/bin' } })
    const { stdout, stderr } = run(['/usr/bin/deckhand', '/proc/self/exe/child/main.js'], `${request}\n`)
    assert.deepEqual(JSON.parse(stdout), { result: 'directory' }, stderr)
  })

  test('names the sources of its lines, as the built programs do', () => {
    const marks = (folder: string) =>
      readdirSync(join(folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.js') && !name.startsWith('page/'))
        .flatMap((name) => readFileSync(join(folder, name), 'latin1').match(/^\/\/ src\/\S+\.ts$/gm) ?? [])
    const built = marks(join(folder, 'dist'))
    assert.ok(built.length > 900)
    assert.deepEqual(marks(join(folder, 'work/assets')).toSorted(), built.toSorted())
  })

  test('has code that V8 takes for each of its files', () => {
    const assets = join(folder, 'work/assets')
    for (const name of ['main.js', 'deckhand.js', 'yaml-library.js', 'child/main.js']) {
      const cachedData = readFileSync(join(assets, `${name}.code`))
      const script = new Script(readFileSync(join(assets, name), 'latin1'), { cachedData })
      assert.equal(script.cachedDataRejected, false, name)
    }
  })

  test('keeps the code that V8 makes while it runs, for the next start and for root alone', () => {
    const cache = join(folder, 'root/var/cache/deckhand')
    rmSync(cache, { recursive: true, force: true })
    const read = () => readFileSync(join(cache, 'deckhand.js.code'))
    const built = readFileSync(join(folder, 'work/assets/deckhand.js.code'))
    run(['/usr/bin/deckhand', 'help'])
    const kept = read()
    assert.ok(kept.length > built.length, `${kept.length} bytes, when it was built ${built.length}`)
    assert.equal(statSync(cache).mode & 0o777, 0o700)
    assert.match(run(['/usr/bin/deckhand', 'help']).stdout, /Usage: deckhand COMMAND/)
    assert.deepEqual(read(), kept, 'nothing is written again')
    writeFileSync(join(cache, 'deckhand.js.code'), kept.fill(0xff, kept.length >> 1))
    assert.match(run(['/usr/bin/deckhand', 'help']).stdout, /Usage: deckhand COMMAND/)
  })

  test('has the same bytes when it is built again', async () => {
    const again = join(folder, 'again')
    await buildExecutable({
      dist: join(folder, 'dist'),
      work: join(folder, 'work-2'),
      node: join(folder, 'node'),
      run: [process.execPath],
      output: again,
    })
    const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    assert.equal(hash(again), hash(output))
  })
})

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { Script } from 'node:vm'
import { buildPage } from '../build-page.ts'
import { buildPrograms } from '../build-programs.ts'
import { buildExecutable } from './build-executable.ts'
import { stripProgram } from './strip-program.ts'

const root = join(import.meta.dirname, '../..')

// In an empty root there is no Node, no npm and none of our files: what runs there is in the executable.
describe('the executable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-executable-'))
  const emptyRoot = join(folder, 'root')
  after(() => rmSync(folder, { recursive: true }))
  before(async () => {
    const dist = join(folder, 'dist')
    await buildPrograms(root, dist)
    await buildPage(root, join(dist, 'page'))
    const node = join(folder, 'node')
    copyFileSync(process.execPath, node)
    stripProgram(node)
    const output = join(emptyRoot, 'bin/deckhand')
    mkdirSync(dirname(output), { recursive: true })
    await buildExecutable({ dist, work: join(folder, 'work'), node, output })
    symlinkSync('deckhand', join(emptyRoot, 'bin/kubelet'))
    copyLibraries(output)
  })

  function copyLibraries(program: string): void {
    for (const [path] of execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/\/\S+/g)) {
      if (path === program) continue
      const copy = join(emptyRoot, path)
      mkdirSync(dirname(copy), { recursive: true })
      copyFileSync(path, copy)
    }
    mkdirSync(join(emptyRoot, 'proc'))
  }

  const run = (args: readonly string[], input = '') =>
    spawnSync('unshare', ['--user', '--map-root-user', '--root', emptyRoot, '--', ...args], { encoding: 'utf8', input })

  test('is two commands, by its name or by its first argument', () => {
    assert.equal(run(['/bin/kubelet', '--version']).stdout, 'Kubernetes v1.36.4\n')
    assert.equal(run(['/bin/deckhand', 'kubelet', '--version']).stdout, 'Kubernetes v1.36.4\n')
    assert.match(run(['/bin/deckhand', 'version']).stdout, /^deckhand \d+\.\d+\.\d+ \(.*Node 26\./)
    assert.match(run(['/bin/kubelet', '--help']).stdout, /--container-runtime-endpoint/)
  })

  test('has what is loaded late, and names file and line of what is wrong', () => {
    writeFileSync(join(emptyRoot, 'config.yaml'), 'kind: KubeletConfiguration\nmaxPods: [\n')
    const { stderr, status } = run(['/bin/kubelet', '--config=/config.yaml'])
    assert.match(stderr, /config\.yaml: expected YAML or JSON: Flow sequence .* at line 3/)
    assert.equal(status, 1)
  })

  test('is its own guarded helper', () => {
    const request = JSON.stringify({ operation: 'kindOf', request: { path: '/bin' } })
    const { stdout, stderr } = run(['/bin/deckhand', '/proc/self/exe/child/main.js'], `${request}\n`)
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

  test('has the same bytes when it is built again', async () => {
    const again = join(folder, 'again')
    await buildExecutable({
      dist: join(folder, 'dist'),
      work: join(folder, 'work-2'),
      node: join(folder, 'node'),
      output: again,
    })
    const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    assert.equal(hash(again), hash(join(emptyRoot, 'bin/deckhand')))
  })
})

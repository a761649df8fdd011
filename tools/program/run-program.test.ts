import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { before, describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { buildProgram } from '../build-program.ts'
import { writePrograms } from './write-programs.ts'

const files = {
  // As long as it is not called V8 has no code for it.
  'early.ts': `export function add(to: number) {${' to += Math.sin(to);'.repeat(500)} return to }\nexport const early = 'early'`,
  'late.ts': `import { early } from './early.ts'\nexport const late = 'late ' + early`,
  'main.ts': `import { flushCompileCache } from 'node:module'
import { basename } from 'node:path'
import { add, early } from './early.ts'
void import('./late.ts').then((part) => {
  if (process.argv[2] === 'call') add(1)
  if (process.argv[2] !== 'leave') flushCompileCache()
  console.log([early, part.late, basename(import.meta.filename), new URL('.', import.meta.url).pathname].join())
  if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL')
})`,
}

describe('a program of dist', () => {
  const root = makeTemporaryFolder()
  const dist = join(root, 'dist')
  const code = () => readdirSync(join(dist, 'compiled')).filter((name) => name.endsWith('.code'))
  const bytes = () => code().reduce((sum, name) => sum + statSync(join(dist, 'compiled', name)).size, 0)
  const run = (...args: readonly string[]) => {
    const { NODE_COMPILE_CACHE: _, ...env } = process.env
    const { stdout, stderr } = spawnSync(process.execPath, [join(dist, 'main.js'), ...args], { env, encoding: 'utf8' })
    assert.equal(stderr, '')
    assert.equal(stdout, `early,late early,main.js,${dist}/\n`)
  }

  before(async () => {
    mkdirSync(join(root, 'src'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'src', name), text)
    await buildProgram(root, { name: 'main', source: 'src/main.ts', outdir: join(root, 'built') })
    await writePrograms(join(root, 'built'), dist, ['main'])
  })

  test('keeps the code of what it called, also when it is killed, and takes it at the next start', () => {
    run('die')
    const uncalled = bytes()
    assert.equal(code().length, 3)
    for (const name of code()) truncateSync(join(dist, 'compiled', name), 0)
    run('call')
    const called = bytes()
    assert.ok(called > uncalled + 5000, `${uncalled} bytes of code, with a function that was called ${called}`)
    const before = code().map((name) => statSync(join(dist, 'compiled', name)).mtimeMs)
    run()
    assert.deepEqual(
      code().map((name) => statSync(join(dist, 'compiled', name)).mtimeMs),
      before,
    )
  })

  test('replaces the code of a program that ended before it came to what it is for, and only once', () => {
    for (const name of code()) truncateSync(join(dist, 'compiled', name), 0)
    run('leave')
    const left = bytes()
    run('leave')
    assert.equal(bytes(), left)
    run('call')
    const called = bytes()
    assert.ok(called > left + 5000, `${left} bytes of code, ${called} when a function was called`)
    run('leave')
    run()
    assert.equal(bytes(), called)
  })

  test('does without code that is damaged, or of another text', () => {
    for (const name of code()) {
      const path = join(dist, 'compiled', name)
      const file = readFileSync(path)
      file.fill(0xff, file.length >> 1)
      writeFileSync(path, file)
    }
    run('call')
    const early = readdirSync(join(dist, 'scripts')).find((name) => name.startsWith('chunk-')) ?? ''
    const path = join(dist, 'scripts', early)
    // Of the same length: V8 itself would not see it.
    writeFileSync(path, readFileSync(path, 'utf8').replace('"early"', '"EARLY"'))
    const { stdout } = spawnSync(process.execPath, [join(dist, 'main.js')], { encoding: 'utf8' })
    assert.match(stdout, /^EARLY,late EARLY,/)
  })
})

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../test/fixtures/make-temporary-folder.ts'
import { runTests } from './run-node-tests.ts'
import type { TestGroup } from './run-node-tests.ts'

const HEAD = `import { existsSync, writeFileSync } from 'node:fs'\nimport { test } from 'node:test'\n`
const GOOD = `test('good', () => {})`
const BAD = `test('bad', () => { throw new Error('planted') })`
const UNSTEADY = `
test('good', () => {})
test('unsteady', () => {
  const mark = import.meta.filename + '.mark'
  if (existsSync(mark)) return
  writeFileSync(mark, '')
  throw new Error('planted')
})`

// Passes once a file beside it has begun as well.
const MEETING = `
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
test('meets another', async ({ signal }) => {
  writeFileSync(import.meta.filename + '.begun', '')
  while (readdirSync(import.meta.dirname).filter((name) => name.endsWith('.begun')).length < 2)
    await sleep(10, undefined, { signal })
})`

// Passes once two of these have begun.
const THIRD = `
import { readdirSync } from 'node:fs'
test('comes third', () => {
  if (readdirSync(import.meta.dirname).filter((name) => name.endsWith('.begun')).length < 2) throw new Error('came too early')
})`

/** Runs groups of files, given by their texts, all of them with a second try unless said otherwise. */
async function run(
  groups: Readonly<Record<string, readonly string[]>>,
  confirm = true,
  options: Partial<TestGroup> = {},
  busy: readonly string[] = [],
) {
  const folder = relative('.', makeTemporaryFolder())
  let printed = ''
  const ok = await runTests(
    Object.entries(groups).map(([name, texts]) => {
      for (const [index, text] of texts.entries())
        writeFileSync(join(folder, `${name}-${index}.test.ts`), `${HEAD}${text}\n`)
      return { name, globs: [join(folder, `${name}-*.test.ts`)], confirm, isBusy: busy.includes(name), ...options }
    }),
    (text) => (printed += text),
    async () => {},
  )
  return { ok, printed, last: printed.trimEnd().split('\n').at(-1) }
}

describe('groups of test files', { concurrency: 2 }, () => {
  test('that pass are counted together, with a line for each group', async () => {
    const { ok, printed, last } = await run({ one: [GOOD, GOOD], two: [GOOD] })
    assert.deepEqual([ok, last], [true, '3 passed, 0 failed, 0 skipped'])
    assert.match(
      printed,
      /^ok {2}one tests \(2 passed, 0 failed, \d+ s\)\nok {2}two tests \(1 passed, 0 failed, \d+ s\)$/m,
    )
  })

  test('three files in all have a second try, and are named when they pass it', async () => {
    const { ok, printed, last } = await run({ one: [UNSTEADY, UNSTEADY, GOOD], two: [UNSTEADY] })
    assert.deepEqual([ok, last], [true, '4 passed, 0 failed, 0 skipped, 3 UNSTEADY'])
    assert.equal(printed.match(/^UNSTEADY {2}.*\.test\.ts: failed beside others, passed alone$/gm)?.length, 3)
    assert.match(printed, /^not ok .*: unsteady\nError: planted$/m)
    assert.match(printed, /^ok {2}one tests \(3 passed, 2 failed, /m)
  })

  test('a group of nothing else has not failed', async () => {
    const alone = UNSTEADY.replace("test('good', () => {})", '')
    const { ok, printed, last } = await run({ one: [alone], two: [GOOD] })
    assert.deepEqual([ok, last], [true, '1 passed, 0 failed, 0 skipped, 1 UNSTEADY'])
    assert.match(printed, /^ok {2}one tests \(0 passed, 1 failed, /m)
  })

  test('a fourth one, of whatever group, takes it from all', async () => {
    const { ok, printed, last } = await run({ one: [UNSTEADY, UNSTEADY], two: [UNSTEADY, UNSTEADY] })
    assert.deepEqual([ok, last], [false, '4 passed, 4 failed, 0 skipped'])
    assert.doesNotMatch(printed, /run again/)
  })

  test('what fails again has failed', async () => {
    const { ok, printed, last } = await run({ one: [UNSTEADY, BAD], two: [GOOD] })
    assert.deepEqual([ok, last], [false, '2 passed, 1 failed, 0 skipped, 1 UNSTEADY'])
    assert.match(printed, /^FAILED {2}one tests /m)
    assert.match(printed, /^ok {2}two tests /m)
  })

  test('unit tests have no second try', async () => {
    const { ok, last } = await run({ one: [UNSTEADY] }, false)
    assert.deepEqual([ok, last], [false, '1 passed, 1 failed, 0 skipped'])
  })

  test('a process that does not come to its end counts as one failure', async () => {
    const { ok, last } = await run({ one: [`test('leaves', () => process.exit(0))`], two: [GOOD] })
    assert.deepEqual([ok, last], [false, '1 passed, 1 failed, 0 skipped'])
  })

  test('more files at once than usual while a CPU is idle, where that is allowed', async () => {
    const one = { processes: 1, timeoutMs: 10_000 }
    assert.equal((await run({ one: [MEETING, MEETING] }, false, { ...one, mostProcesses: 2 })).ok, true)
    assert.equal((await run({ one: [MEETING, MEETING] }, false, { ...one, timeoutMs: 500 })).ok, false)
  })

  test('a file that waits begins beside one that is busy, before the next of those', async () => {
    const groups = { one: [MEETING, THIRD], two: [MEETING] }
    // No more than fit, however idle the CPUs are.
    const options = { processes: 2, mostProcesses: 1, timeoutMs: 10_000 }
    assert.equal((await run(groups, false, options, ['one'])).ok, true)
    assert.equal((await run(groups, false, options)).ok, false)
  })

  test('several files in one process, but for the longest; only those that failed have a second try', async () => {
    const noteProcess = `test('notes its process', () => console.log('process ' + process.pid))`
    const texts = [noteProcess, noteProcess, `${noteProcess}\n${UNSTEADY}`, noteProcess, noteProcess]
    const { ok, printed, last } = await run({ one: texts }, true, { processes: 1, filesPerProcess: 3 })
    assert.deepEqual([ok, last], [true, '6 passed, 0 failed, 0 skipped, 1 UNSTEADY'])
    const [first, second, ...again] = [...new Set(printed.match(/process \d+/g))]
    assert.equal(printed.split(`${first}\n`).length - 1, 3)
    assert.equal(printed.split(`${second}\n`).length - 1, 2)
    assert.equal(again.length, 1)
    assert.match(printed, /^UNSTEADY {2}\S+one-2\.test\.ts: failed beside others, passed alone$/m)
  })

  test('a group without a test has failed', async () => {
    const { ok, printed } = await run({ one: [], two: [GOOD] })
    assert.equal(ok, false)
    assert.match(printed, /^FAILED {2}one tests \(0 passed, 0 failed, 0 s\)$/m)
  })
})

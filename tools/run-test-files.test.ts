import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { runTestFiles } from './run-test-files.ts'

const HEAD = `import { test } from 'node:test'\n`
const GOOD = `test('good', () => {})`

const files: readonly (readonly [name: string, text: string, trouble: RegExp | undefined])[] = [
  ['is good', GOOD, undefined],
  ['fails', `${GOOD}\ntest('bad', () => { throw new Error('planted') })`, /^a test failed/],
  ['throws while it is loaded', `throw new Error('planted')`, /^(a test failed|the process ended with 1)/],
  ['has no test', '', /^(no test in |the process left before its last test$)/],
  ['leaves in the middle', `test('leaves', () => process.exit(0))`, /^the process left before its last test$/],
  ['waits for ever', `test('waits', () => new Promise(() => {}))`, /^a test failed/],
  [
    'fails beside its test',
    `test('waits', () => new Promise((resolve) => {
      setTimeout(() => { throw new Error('planted') }, 20)
      setTimeout(resolve, 100)
    }))`,
    /^(a test failed|the process ended with 1)/,
  ],
  [
    'fails when its tests have ended',
    `test('late', () => { setTimeout(() => void Promise.reject(new Error('planted')), 50) })`,
    /^the process ended with 1, and no test that failed$/,
  ],
  ['does not end', `${GOOD}\nsetInterval(() => {}, 1000)`, /^the process had not ended after 1 s$/],
]

// Only what never ends should run into one of these.
const GENEROUS = { timeoutMs: 60_000, deadlineMs: 60_000 }

function limitsOf(name: string): typeof GENEROUS {
  if (name === 'waits for ever') return { ...GENEROUS, timeoutMs: 1000 }
  return name === 'does not end' ? { ...GENEROUS, deadlineMs: 1000 } : GENEROUS
}

// Of all that fails then, only the error of the hook says why.
const BAD_HOOK = `import { before, describe } from 'node:test'
describe('suite', () => {
  before(() => { throw new Error('planted in a hook') })
  ${GOOD}
})`

describe('test files', { concurrency: 2 }, () => {
  const run = async (texts: readonly string[], limits = GENEROUS) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-runner-'))
    const paths = texts.map((text, index) => {
      const file = join(folder, `${index}.test.ts`)
      writeFileSync(file, `${HEAD}${text}\n`)
      return relative('.', file)
    })
    const result = await runTestFiles(paths, limits)
    rmSync(folder, { recursive: true })
    return result
  }

  for (const [name, text, trouble] of files) {
    test(`one that ${name}`, async () => {
      const result = await run([text], limitsOf(name))
      if (trouble === undefined) assert.equal(result.trouble, undefined)
      else assert.match(result.trouble ?? '', trouble)
    })

    test(`one that ${name}, in the process of others`, async () => {
      const result = await run([GOOD, text, GOOD], limitsOf(name))
      if (trouble === undefined) assert.deepEqual([result.trouble, result.passed], [undefined, 3])
      else assert.match(result.trouble ?? '', trouble)
    })
  }

  test('that are skipped as a whole count as one that was skipped', async () => {
    const skipped = `import { describe } from 'node:test'\ndescribe('suite', { skip: 'planted' }, () => { ${GOOD} })`
    for (const texts of [[skipped], [GOOD, skipped, GOOD]]) {
      const { trouble, passed, skipped: count } = await run(texts)
      assert.deepEqual([trouble, passed, count], [undefined, texts.length - 1, 1])
    }
  })

  test('report what went wrong in a hook', async () => {
    const { report, passed, trouble = '' } = await run([BAD_HOOK])
    assert.equal(passed, 0)
    assert.match(trouble, /^a test failed/)
    assert.match(report, /^not ok .*: suite\nError: planted in a hook$/m)
  })

  test('report what failed, and how many tests of each passed', async () => {
    const { report, passed, failed } = await run([GOOD, `${GOOD}\ntest('bad', () => { throw new Error('planted') })`])
    assert.deepEqual([passed, failed], [2, 1])
    assert.match(report, /^not ok {2}.*1\.test\.ts: bad\nError: planted\n/)
    assert.match(report, /0\.test\.ts: 1 passed \(\d+ ms\)\n.*1\.test\.ts: 1 passed \(\d+ ms\)\n/)
    assert.match(report, /FAILED {2}2 files: a test failed, see above\n$/)
  })
})

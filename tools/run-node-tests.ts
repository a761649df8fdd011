/** Runs groups of test files with node:test and closes with one count over all of them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

export interface TestGroup {
  readonly name: string
  readonly globs: readonly string[]
  /** Files at once; 1 where the tests need the machine for themselves. */
  readonly concurrency?: number
  readonly timeoutMs?: number
}

interface Counts {
  pass: number
  fail: number
  skip: number
}

/** True when every group passed and each of them ran at least one test. */
export async function runTests(groups: readonly TestGroup[]): Promise<boolean> {
  const total: Counts = { pass: 0, fail: 0, skip: 0 }
  let ok = true
  for (const group of groups) {
    const { counts, exitCode } = await runGroup(group)
    if (exitCode !== 0 || counts.pass === 0) {
      ok = false
      console.log(`FAILED  ${group.name} tests (exit code ${exitCode}, ${counts.pass} passed)`)
    } else {
      console.log(`ok  ${group.name} tests (${counts.pass} passed)`)
    }
    total.pass += counts.pass
    total.fail += counts.fail
    total.skip += counts.skip
  }
  console.log(`\n${total.pass} passed, ${total.fail} failed, ${total.skip} skipped`)
  return ok && total.fail === 0
}

async function runGroup(group: TestGroup): Promise<{ counts: Counts; exitCode: number }> {
  const scratch = await mkdtemp(join(tmpdir(), 'deckhand-tests-'))
  const countsFile = join(scratch, 'counts')
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${group.concurrency ?? 2}`,
      `--test-timeout=${group.timeoutMs ?? 60_000}`,
      '--test-reporter=./tools/quiet-reporter.ts',
      '--test-reporter-destination=stdout',
      '--test-reporter=./tools/count-reporter.ts',
      `--test-reporter-destination=${countsFile}`,
      ...group.globs,
    ],
    { stdio: 'inherit' },
  )
  const [exitCode] = (await once(child, 'exit')) as [number | null]
  const counts: Counts = { pass: 0, fail: 0, skip: 0 }
  for (const line of (await readFile(countsFile, 'utf8').catch(() => '')).split('\n')) {
    if (line === 'pass' || line === 'fail' || line === 'skip') counts[line] += 1
  }
  await rm(scratch, { recursive: true })
  return { counts, exitCode: exitCode ?? 1 }
}

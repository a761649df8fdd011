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
  /** A file that fails beside others is run again, alone, before it counts as failed (docs/decisions/0015-unsteady-tests.md). */
  readonly confirm?: boolean
}

// More than these is no accident.
const MOST_CONFIRMED = 3

interface Counts {
  pass: number
  /** The file of each test that failed. */
  failed: string[]
  skip: number
}

/** True when every group passed and each of them ran at least one test. */
export async function runTests(groups: readonly TestGroup[]): Promise<boolean> {
  const total = { pass: 0, fail: 0, skip: 0, unsteady: 0 }
  let ok = true
  for (const group of groups) {
    const { counts, exitCode } = await runGroup(group)
    const unsteady = group.confirm === true && counts.failed.length > 0 && (await passesAlone(group, counts.failed))
    if ((exitCode !== 0 && !unsteady) || counts.pass === 0) {
      ok = false
      console.log(`FAILED  ${group.name} tests (exit code ${exitCode}, ${counts.pass} passed)`)
    } else {
      console.log(`ok  ${group.name} tests (${counts.pass} passed)`)
    }
    total.pass += counts.pass
    total.skip += counts.skip
    total[unsteady ? 'unsteady' : 'fail'] += counts.failed.length
  }
  const { pass, fail, skip, unsteady } = total
  console.log(`\n${pass} passed, ${fail} failed, ${skip} skipped${unsteady > 0 ? `, ${unsteady} UNSTEADY` : ''}`)
  return ok && fail === 0
}

async function passesAlone(group: TestGroup, failed: readonly string[]): Promise<boolean> {
  const files = [...new Set(failed)]
  // Where much fails, it is not for want of quiet.
  if (files.length > MOST_CONFIRMED || files.includes('')) return false
  console.log(`failed beside others, run again alone: ${files.join(', ')}`)
  const { counts, exitCode } = await runGroup({ ...group, globs: files, concurrency: 1 })
  const passed = exitCode === 0 && counts.pass > 0
  if (passed) for (const file of files) console.log(`UNSTEADY  ${file}: failed beside others, passed alone`)
  return passed
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
  const counts: Counts = { pass: 0, failed: [], skip: 0 }
  for (const line of (await readFile(countsFile, 'utf8').catch(() => '')).split('\n')) {
    if (line === 'pass' || line === 'skip') counts[line] += 1
    else if (line.startsWith('fail')) counts.failed.push(line.slice('fail '.length))
  }
  await rm(scratch, { recursive: true })
  return { counts, exitCode: exitCode ?? 1 }
}

/** Runs groups of test files with node:test, several processes at once, and closes with one count over all of them. */
import { globSync } from 'node:fs'
import { runTestFiles } from './run-test-files.ts'
import type { FilesResult } from './run-test-files.ts'

export interface TestGroup {
  readonly name: string
  readonly globs: readonly string[]
  /** Processes at once; 1 where the tests need the machine for themselves. */
  readonly processes?: number
  /**
   * Many files in each process, for tests that wait for nothing but themselves: most of the time of a small file is the start of its
   * process. Else each file has its own.
   */
  readonly shared?: boolean
  /** Begun before the others, in this order, so that no long file is alone at the end. */
  readonly longest?: readonly string[]
  readonly timeoutMs?: number
  /** A file that fails beside others is run again, alone, before it counts as failed (docs/decisions/0015-unsteady-tests.md). */
  readonly confirm?: boolean
}

export const unitTests: readonly TestGroup[] = [
  { name: 'unit', globs: ['src/**/*.test.ts'], shared: true },
  { name: 'tools', globs: ['tools/**/*.test.ts'] },
]

// More than these is no accident.
const MOST_CONFIRMED = 3

/** True when every group passed and each of them ran at least one test. */
export async function runTests(groups: readonly TestGroup[]): Promise<boolean> {
  const total = { passed: 0, failed: 0, skipped: 0, unsteady: 0 }
  let ok = true
  for (const group of groups) {
    const started = performance.now()
    const results = await runAll(group, toProcesses(group))
    const bad = results.filter(({ trouble }) => trouble !== undefined)
    const unsteady = group.confirm === true && bad.length > 0 && (await passAlone(group, bad))
    const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((key) =>
      results.reduce((sum, each) => sum + each[key], 0),
    ) as [number, number, number]
    const isOk = (bad.length === 0 || unsteady) && passed > 0
    const seconds = Math.round((performance.now() - started) / 1000)
    console.log(`${isOk ? 'ok' : 'FAILED'}  ${group.name} tests (${passed} passed, ${failed} failed, ${seconds} s)`)
    ok &&= isOk
    total.passed += passed
    total.skipped += skipped
    // What did not come to its end may have no test that failed.
    total[unsteady ? 'unsteady' : 'failed'] += Math.max(failed, bad.length)
  }
  const { passed, failed, skipped, unsteady } = total
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped${unsteady > 0 ? `, ${unsteady} UNSTEADY` : ''}`)
  return ok
}

/** The files of each process, in the order in which they begin. */
function toProcesses({
  globs,
  longest = [],
  shared = false,
  processes = 2,
}: TestGroup): readonly (readonly string[])[] {
  const files = globs.flatMap((glob) => globSync(glob)).toSorted()
  const missing = longest.filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`Cannot begin with ${missing.join(', ')}: no such test file`)
  const ordered = [...longest, ...files.filter((file) => !longest.includes(file))]
  if (!shared) return ordered.map((file) => [file])
  return Array.from({ length: processes }, (_, number) =>
    ordered.filter((_file, index) => index % processes === number),
  )
}

async function runAll(group: TestGroup, queue: readonly (readonly string[])[]): Promise<readonly FilesResult[]> {
  const waiting = [...queue]
  const results: FilesResult[] = []
  const work = async () => {
    for (let files = waiting.shift(); files !== undefined; files = waiting.shift()) {
      const result = await runTestFiles(files, { timeoutMs: group.timeoutMs ?? 60_000 })
      process.stdout.write(result.report)
      results.push(result)
    }
  }
  await Promise.all(Array.from({ length: group.processes ?? 2 }, work))
  return results
}

async function passAlone(group: TestGroup, bad: readonly FilesResult[]): Promise<boolean> {
  // Where much fails, it is not for want of quiet.
  if (bad.length > MOST_CONFIRMED) return false
  const queue = bad.map(({ files }) => files)
  const names = queue.flat().join(', ')
  console.log(`failed beside others, run again alone: ${names}`)
  const again = await runAll({ ...group, processes: 1 }, queue)
  const passed = again.every(({ trouble }) => trouble === undefined)
  if (passed) console.log(`UNSTEADY  ${names}: failed beside others, passed alone`)
  return passed
}

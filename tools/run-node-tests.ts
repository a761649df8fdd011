/** Runs groups of test files with node:test, several processes at once, and ends with one count for all of them. */
import { globSync } from 'node:fs'
import process from 'node:process'
import { waitForIdleCpu } from './idle-cpu.ts'
import { makeMemoryFolder } from './memory-folder.ts'
import { runTestFiles } from './run-test-files.ts'
import type { FilesResult } from './run-test-files.ts'

export interface TestGroup {
  readonly name: string
  readonly globs: readonly string[]
  /** Processes at once; 1 where the tests need the machine for themselves. */
  readonly processes?: number
  /** So many while a CPU is idle: files that mostly wait leave room for others. */
  readonly mostProcesses?: number
  /**
   * Files in each process, for tests that keep to themselves: most of the time of a small file is the start of its process, and code that
   * has run is faster. Else each file has its own.
   */
  readonly filesPerProcess?: number
  /** Its files keep a CPU busy: one of them runs beside those that mostly wait, so that neither lets a CPU idle. */
  readonly isBusy?: boolean
  /** Begun before the others, in this order and each in its own process, so that no long file is alone at the end. */
  readonly longest?: readonly string[]
  readonly timeoutMs?: number
  /** Temporary files are on the machine's disk, as on a node, also where memory has room for them. */
  readonly onDisk?: boolean
  /** A file that fails beside others is run again, alone, before it counts as failed (docs/decisions/0015-unsteady-tests.md). */
  readonly confirm?: boolean
}

export const unitTests: readonly TestGroup[] = [
  { name: 'unit', globs: ['src/**/*.test.ts'], filesPerProcess: 1000, isBusy: true },
  { name: 'tools', globs: ['tools/**/*.test.ts'], isBusy: true },
]

/** The files of one process. */
interface Job {
  readonly group: TestGroup
  readonly files: readonly string[]
}

interface Outcome extends Job {
  readonly result: FilesResult
  readonly startedAt: number
  readonly endedAt: number
}

type Print = (text: string) => void

/** What all jobs of a run share. */
interface Run {
  readonly print: Print
  /** For temporary files; undefined where memory has no room for them. */
  readonly memory: string | undefined
}

type WaitForIdleCpu = (signal: AbortSignal) => Promise<void>

// More than these in a whole run is no accident.
const MOST_CONFIRMED = 3
// The whole machine, in parts that 1 to 4 processes can share evenly.
const MACHINE = 12

/** The count of a whole run. */
export interface TestCounts {
  /** Every group passed, and each of them ran at least one test. */
  readonly ok: boolean
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Of those that were skipped. */
  readonly refused: number
}

/** True when every group passed and each of them ran at least one test. */
export async function runTests(
  groups: readonly TestGroup[],
  print?: Print,
  waitForIdle?: WaitForIdleCpu,
): Promise<boolean> {
  return (await countTests(groups, print, waitForIdle)).ok
}

/** Runs all groups and counts. */
export async function countTests(
  groups: readonly TestGroup[],
  print: Print = (text) => process.stdout.write(text),
  waitForIdle: WaitForIdleCpu = waitForIdleCpu,
): Promise<TestCounts> {
  using memory = makeMemoryFolder()
  const outcomes = await runJobs(groups.flatMap(toJobs), { print, waitForIdle, memory: memory?.path })
  const bad = outcomes.filter(isBad)
  const unsteady = await findUnsteady(bad, { print, memory: memory?.path })
  const failed = bad.filter((outcome) => !unsteady.includes(outcome))
  let ok = true
  for (const group of groups) {
    const own = outcomes.filter((outcome) => outcome.group === group)
    const passed = sum(own.map(({ result }) => result.passed))
    const isTested = passed > 0 || unsteady.some((outcome) => outcome.group === group)
    const isOk = isTested && failed.every((outcome) => outcome.group !== group)
    const counts = `${passed} passed, ${sum(own.map(({ result }) => result.failed))} failed`
    print(`${isOk ? 'ok' : 'FAILED'}  ${group.name} tests (${counts}, ${toSeconds(own)} s)\n`)
    ok &&= isOk
  }
  const passed = sum(outcomes.map(({ result }) => result.passed))
  const skipped = sum(outcomes.map(({ result }) => result.skipped))
  const note = unsteady.length > 0 ? `, ${countFailures(unsteady)} UNSTEADY` : ''
  print(`\n${passed} passed, ${countFailures(failed)} failed, ${skipped} skipped${note}\n`)
  const refused = sum(outcomes.map(({ result }) => result.refused))
  return { ok, passed, failed: countFailures(failed), skipped, refused }
}

/** The processes of a group, in the order in which they begin. */
function toJobs(group: TestGroup): readonly Job[] {
  const { globs, longest = [], filesPerProcess = 1, processes = 2 } = group
  const files = globs.flatMap((glob) => globSync(glob)).toSorted()
  const missing = longest.filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`Cannot begin with ${missing.join(', ')}: no such test file`)
  const others = files.filter((file) => !longest.includes(file))
  const count = filesPerProcess === 1 ? others.length : Math.max(processes, Math.ceil(others.length / filesPerProcess))
  // Neighbours use the same code; where all processes run at once, each gets its share of every folder, so that all end together.
  const processOf = (index: number) =>
    count > processes ? Math.floor((index * count) / others.length) : index % Math.max(count, 1)
  const shared = Array.from({ length: count }, (_, number) =>
    others.filter((_file, index) => processOf(index) === number),
  )
  return [...longest.map((file) => [file]), ...shared]
    .filter((own) => own.length > 0)
    .map((own) => ({ group, files: own }))
}

/**
 * Runs jobs, each as soon as its share of the machine is free, or earlier where a CPU has nothing to do: a group begins beside the last files of
 * the one before, and what is busy beside what waits.
 */
async function runJobs(
  jobs: readonly Job[],
  { waitForIdle, ...run }: Run & { readonly waitForIdle: WaitForIdleCpu },
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const waiting = [...jobs]
  const running = new Map<Promise<void>, Job>()
  for (let job = findNext(waiting, running); job !== undefined; job = findNext(waiting, running)) {
    // Another may come first once one has ended.
    if (!isFree(job, running) && !(await isIdle(job, running, waitForIdle))) continue
    waiting.splice(waiting.indexOf(job), 1)
    const ended = runJob(job, run).then((outcome) => {
      outcomes.push(outcome)
      running.delete(ended)
    })
    running.set(ended, job)
  }
  await Promise.all(running.keys())
  return outcomes
}

/** In their order, but one that is busy beside those that wait, and the other kind where no more of the one may begin. */
function findNext(waiting: readonly Job[], running: ReadonlyMap<unknown, Job>): Job | undefined {
  const wantsBusy = !running.values().some(isBusy)
  const wanted = (job: Job) => isBusy(job) === wantsBusy
  const mayBegin = (job: Job) => countAlike(job, running) < mostOf(job)
  return (
    waiting.find((job) => wanted(job) && mayBegin(job)) ?? waiting.find(mayBegin) ?? waiting.find(wanted) ?? waiting[0]
  )
}

function isBusy({ group }: Job): boolean {
  return group.isBusy ?? false
}

function countAlike(job: Job, running: ReadonlyMap<unknown, Job>): number {
  return [...running.values()].filter((other) => isBusy(other) === isBusy(job)).length
}

function mostOf({ group: { processes = 2, mostProcesses = processes } }: Job): number {
  return mostProcesses
}

function isFree(job: Job, running: ReadonlyMap<unknown, Job>): boolean {
  return sum([...running.values(), job].map(shareOf)) <= MACHINE
}

function shareOf({ group: { processes = 2 } }: Job): number {
  return Math.floor(MACHINE / processes)
}

/** Whether a CPU was idle, and the job may make use of that, before one of those that run ended. */
async function isIdle(
  job: Job,
  running: ReadonlyMap<Promise<void>, Job>,
  waitForIdle: WaitForIdleCpu,
): Promise<boolean> {
  const stop = new AbortController()
  const idle = () =>
    waitForIdle(stop.signal).then(
      () => true,
      () => false,
    )
  const ended = Promise.race(running.keys()).then(() => false)
  const found = await Promise.race([ended, ...(countAlike(job, running) < mostOf(job) ? [idle()] : [])])
  stop.abort()
  return found
}

async function runJob(job: Job, { print, memory }: Run): Promise<Outcome> {
  const { timeoutMs = 60_000, onDisk = false } = job.group
  const startedAt = performance.now()
  const result = await runTestFiles(job.files, { timeoutMs, ...(!onDisk && { temporary: memory }) })
  print(result.report)
  return { ...job, result, startedAt, endedAt: performance.now() }
}

/** Those that pass when they run again, one after the other and nothing beside them. */
async function findUnsteady(bad: readonly Outcome[], run: Run): Promise<readonly Outcome[]> {
  // Where much fails, a busy machine is not the cause.
  const isMuch = sum(bad.map(({ result }) => result.failedFiles.length)) > MOST_CONFIRMED
  if (isMuch || !bad.every(({ group }) => group.confirm === true)) return []
  const unsteady: Outcome[] = []
  for (const outcome of bad) {
    const files = outcome.result.failedFiles
    const names = files.join(', ')
    run.print(`failed beside others, run again alone: ${names}\n`)
    if (isBad(await runJob({ ...outcome, files }, run))) continue
    for (const file of files) run.print(`UNSTEADY  ${file}: failed beside others, passed alone\n`)
    unsteady.push(outcome)
  }
  return unsteady
}

function isBad({ result }: Outcome): boolean {
  return result.trouble !== undefined
}

/** From the beginning of the first to the end of the last. */
function toSeconds(outcomes: readonly Outcome[]): number {
  if (outcomes.length === 0) return 0
  const begin = Math.min(...outcomes.map(({ startedAt }) => startedAt))
  const end = Math.max(...outcomes.map(({ endedAt }) => endedAt))
  return Math.round((end - begin) / 1000)
}

/** A process that did not come to its end may have no test that failed. */
function countFailures(bad: readonly Outcome[]): number {
  return sum(bad.map(({ result }) => Math.max(result.failed, 1)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { END, REFUSED } from './result-reporter.ts'
import type { TestResult } from './result-reporter.ts'

/** The result of the files of one process. */
export interface FilesResult {
  readonly files: readonly string[]
  /** Those with a test that failed; all of them where the process itself did. */
  readonly failedFiles: readonly string[]
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Of those that were skipped: what was rightly refused. */
  readonly refused: number
  /** Why they do not count as passed. */
  readonly trouble?: string
  /** What failed, with all details, and a line per file. */
  readonly report: string
}

interface Ending {
  readonly results: readonly TestResult[]
  /** What the process wrote. */
  readonly output: string
  /** Whether it said that this was all. */
  readonly isWhole: boolean
  /** Its exit code, or the signal that ended it. */
  readonly exit: number | string
  readonly ms: number
}

export interface Limits {
  /** For one test. */
  readonly timeoutMs: number
  /** For all files of a process together: what hangs must not hang the run. */
  readonly deadlineMs?: number
  /** The folder for temporary files; that of the machine if there is none. */
  readonly temporary?: string | undefined
}

const DEADLINE_MS = 300_000
const DEADLINE_PER_FILE_MS = 10_000

/** Runs test files in one process of their own, which must come to its end by itself and have run tests of each file. */
export async function runTestFiles(
  files: readonly string[],
  { timeoutMs, deadlineMs = DEADLINE_MS + files.length * DEADLINE_PER_FILE_MS, temporary }: Limits,
): Promise<FilesResult> {
  const ending = await runProcess(files, { timeoutMs, deadlineMs, temporary })
  const count = (outcome: TestResult['outcome']) => ending.results.filter((result) => result.outcome === outcome).length
  const trouble = findTrouble(files, ending, deadlineMs)
  const lines = files.map((file) => toLine(ending, files.length === 1 ? undefined : file, file))
  const last =
    trouble === undefined ? '' : `FAILED  ${files.length === 1 ? files[0] : `${files.length} files`}: ${trouble}\n`
  return {
    files,
    failedFiles: trouble === undefined ? [] : findFailed(files, ending.results),
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skip'),
    refused: ending.results.filter(({ reason }) => reason?.startsWith(REFUSED) === true).length,
    ...(trouble === undefined ? {} : { trouble }),
    report: `${ending.output}${lines.join('')}${last}`,
  }
}

async function runProcess(
  files: readonly string[],
  { timeoutMs, deadlineMs, temporary }: Required<Limits>,
): Promise<Ending> {
  const scratch = await mkdtemp(join(tmpdir(), 'deckhand-tests-'))
  // A file and no pipe: what a test left behind may hold it open.
  const output = await open(`${scratch}/output`, 'w')
  const started = performance.now()
  const child = spawn(
    process.execPath,
    files.length === 1
      ? toOwnProgram(files, timeoutMs, `${scratch}/results`)
      : ['./tools/run-in-one-process.ts', String(timeoutMs), `${scratch}/results`, ...files],
    // A test that runs this must not get the reports of these tests.
    {
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...(temporary !== undefined && { TMPDIR: temporary }) },
      stdio: ['ignore', output.fd, output.fd],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
    },
  )
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  const ms = Math.round(performance.now() - started)
  await output.close()
  const lines = (await readFile(`${scratch}/results`, 'utf8').catch(() => '')).trimEnd().split('\n')
  const ending = {
    results: lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as TestResult] : [])),
    output: await readFile(`${scratch}/output`, 'utf8'),
    isWhole: lines.at(-1) === END,
    exit: code ?? signal ?? 'unknown',
    ms,
  }
  await rm(scratch, { recursive: true })
  return ending
}

/** node:test runs a single file as a program of its own. */
function toOwnProgram(files: readonly string[], timeoutMs: number, results: string): readonly string[] {
  return [
    '--import=./tools/untracked-promises.ts',
    `--test-timeout=${timeoutMs}`,
    '--test-reporter=./tools/quiet-reporter.ts',
    '--test-reporter-destination=stdout',
    '--test-reporter=./tools/result-reporter.ts',
    `--test-reporter-destination=${results}`,
    ...files,
  ]
}

function findTrouble(
  files: readonly string[],
  { results, isWhole, exit }: Ending,
  deadlineMs: number,
): string | undefined {
  if (results.some(({ outcome }) => outcome === 'fail')) return 'a test failed, see above'
  if (exit === 'SIGKILL') return `the process had not ended after ${deadlineMs / 1000} s`
  if (exit !== 0) return `the process ended with ${exit}, and no test that failed`
  if (!isWhole) return 'the process left before its last test'
  const ran = new Set(results.map(({ file }) => file))
  const idle = files.length === 1 ? files.filter(() => ran.size === 0) : files.filter((file) => !ran.has(file))
  return idle.length === 0 ? undefined : `no test in ${idle.join(', ')}`
}

/** A test may be written in a file beside the one that runs it; then no file of these has failed more than the others. */
function findFailed(files: readonly string[], results: readonly TestResult[]): readonly string[] {
  const failed = new Set(results.flatMap(({ outcome, file }) => (outcome === 'fail' ? [file] : [])))
  return failed.size > 0 && [...failed].every((file) => files.includes(file)) ? [...failed] : files
}

/** With the time that the file took, or its tests where it shared the process with others. */
function toLine({ results, ms }: Ending, shared: string | undefined, file: string): string {
  const own = results.filter((result) => shared === undefined || result.file === shared)
  const passed = own.filter(({ outcome }) => outcome === 'pass').length
  const took = shared === undefined ? ms : own.reduce((sum, each) => sum + each.ms, 0)
  return `    ${file}: ${passed} passed (${Math.round(took)} ms)\n`
}

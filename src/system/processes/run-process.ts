import { spawn } from 'node:child_process'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'

/** What a finished child process left behind. */
export interface ProcessResult {
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export interface ProcessRequest {
  /** The program and its arguments; never read by a shell. */
  readonly argv: readonly string[]
  readonly deadlineMs: number
  readonly stdin?: Uint8Array | string
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** What is kept of each of stdout and stderr; the rest is read and dropped. */
  readonly maxOutputBytes?: number
}

/** A child process that could not be started, or ended with another exit code than 0. */
export class ProcessError extends Error {
  override readonly name = 'ProcessError'
  readonly result: ProcessResult | undefined

  constructor(argv: readonly string[], state: string, options?: { result?: ProcessResult; cause?: unknown }) {
    super(
      `Cannot run "${argv.join(' ')}": ${state}`,
      options?.cause === undefined ? undefined : { cause: options.cause },
    )
    this.result = options?.result
  }
}

const DEFAULT_MAX_OUTPUT_BYTES = 16 * 1024 * 1024

/** Runs a program to its end, whatever its exit code; at the deadline or abort its whole process group is killed. */
export async function runProcess(clock: Clock, request: ProcessRequest, signal: AbortSignal): Promise<ProcessResult> {
  // Its own process group, so that what it started itself can be killed with it.
  const child = await spawnPiped(request.argv, {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(request.environment === undefined ? {} : { env: request.environment }),
  })
  const limit = request.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES
  const stdout = collect(child.stdout, limit)
  const stderr = collect(child.stderr, limit)
  child.stdin.on('error', () => {}) // A program need not read its input.
  child.stdin.end(request.stdin)
  try {
    const what = `"${request.argv.join(' ')}"`
    const [code] = await withDeadline(
      { clock, ms: request.deadlineMs, what },
      (until) => once(child, 'close', { signal: until }),
      signal,
    )
    return { exitCode: (code as number | null) ?? undefined, stdout: stdout(), stderr: stderr() }
  } catch (error) {
    if (child.pid === undefined)
      throw new ProcessError(request.argv, 'no such program can be started', { cause: error })
    killGroup(child.pid)
    child.stdout.destroy()
    child.stderr.destroy()
    throw signal.aborted ? signal.reason : error
  }
}

/** Like runProcess(), but any end other than exit code 0 is a ProcessError that carries what the program said. */
export async function runProcessOrThrow(
  clock: Clock,
  request: ProcessRequest,
  signal: AbortSignal,
): Promise<ProcessResult> {
  const result = await runProcess(clock, request, signal)
  if (result.exitCode === 0) return result
  const said = (result.stderr.trim() || result.stdout.trim()).slice(-1000)
  const end = result.exitCode === undefined ? 'killed by a signal' : `exit code ${result.exitCode}`
  throw new ProcessError(request.argv, `${end}, expected 0: ${said}`, { result })
}

/** A child with a stream for each of its pipes. */
type Piped = { readonly [K in 'stdin' | 'stdout' | 'stderr']: NonNullable<ChildProcess[K]> } & ChildProcess

/** Starts a program with pipes to and from it. */
export async function spawnPiped(
  argv: readonly string[],
  options: SpawnOptions & { readonly stdio: ['pipe', 'pipe', 'pipe'] },
): Promise<Piped> {
  const [file = '', ...args] = argv
  const child: ChildProcess = spawn(file, args, options)
  // A caller that waits for the end gets the error; after an abort there is none, and an unhandled error would end this process.
  child.on('error', () => {})
  // Without a descriptor to spare there are no streams, and the error comes later.
  const { stdin, stdout, stderr } = child
  if (stdin && stdout && stderr) return Object.assign(child, { stdin, stdout, stderr })
  const [cause] = await once(child, 'error')
  throw new ProcessError(argv, 'no program can be started now', { cause })
}

function collect(stream: Readable, limit: number): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < limit) chunks.push(chunk.subarray(0, limit - size))
    size += chunk.length
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}

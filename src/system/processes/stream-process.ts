import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { ProcessError, spawnPiped } from './run-process.ts'

const MAX_STDERR_BYTES = 4096

export interface StreamRequest {
  readonly argv: readonly string[]
  readonly deadlineMs: number
  /** Takes what the program writes. */
  readonly sink: Writable
  /** What the program reads; nothing when absent. */
  readonly source?: Readable
}

/** Runs a program and passes on what it writes, as fast as that is taken; gives its exit code and the beginning of what it complains. */
export async function streamProcess(
  clock: Clock,
  request: StreamRequest,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number | undefined; readonly stderr: string }> {
  const child = await spawnPiped(request.argv, { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {}) // A program need not read its input.
  if (request.source === undefined) child.stdin.end()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString('utf8')
  })
  const options = { clock, ms: request.deadlineMs, what: `"${request.argv.join(' ')}"` }
  try {
    return await withDeadline(
      options,
      async (until) => {
        const closed = once(child, 'close', { signal: until })
        const given = request.source === undefined ? undefined : feed(request.source, child.stdin, until)
        await Promise.all([closed, given, pipeline(child.stdout, request.sink, { end: false, signal: until })])
        return { exitCode: child.exitCode ?? undefined, stderr }
      },
      signal,
    )
  } catch (error) {
    if (child.pid === undefined)
      throw new ProcessError(request.argv, 'no such program can be started', { cause: error })
    child.kill('SIGKILL')
    throw signal.aborted ? signal.reason : error
  }
}

/** A program that ends before it has read all says why itself; only a source that fails is our error. */
async function feed(source: Readable, stdin: Writable, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(source, stdin, { signal })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code)) throw error
  }
}

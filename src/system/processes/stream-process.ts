import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { ProcessError, spawnPiped } from './run-process.ts'

const MAX_STDERR_BYTES = 4096

/** Runs a program and passes on what it writes, as fast as that is taken; gives its exit code and the beginning of what it complains. */
export async function streamProcess(
  clock: Clock,
  request: { readonly argv: readonly string[]; readonly deadlineMs: number; readonly sink: Writable },
  signal: AbortSignal,
): Promise<{ readonly exitCode: number | undefined; readonly stderr: string }> {
  const child = await spawnPiped(request.argv, { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {}) // A program need not read its input.
  child.stdin.end()
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
        await Promise.all([closed, pipeline(child.stdout, request.sink, { end: false, signal: until })])
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

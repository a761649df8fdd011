import type { Turnstile } from '../../../base/async/turnstile.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { OUTPUT_BYTES } from '../probe-outcome.ts'
import type { ProbeOutcome } from '../probe-outcome.ts'

export interface ExecProbeDeps {
  readonly calls: Pick<CriCalls, 'execSync'>
  /** A process in a container costs the runtime far more than a connection: only a few start at a time. */
  readonly execs: Turnstile
}

export interface ExecProbeTarget {
  readonly containerId: string
  readonly command: readonly string[]
  readonly timeoutSeconds: number
}

/** Runs a command in the container; the runtime ends it when it takes too long. */
export async function runExecProbe(
  { calls, execs }: ExecProbeDeps,
  { containerId, command, timeoutSeconds }: ExecProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const request = { containerId, cmd: command, timeout: BigInt(timeoutSeconds) }
  try {
    const { exitCode, stdout, stderr } = await execs.runInTurn(0, () => calls.execSync(request, signal), signal)
    const output = Buffer.concat([stdout, stderr]).toString('utf8', 0, OUTPUT_BYTES)
    return { result: exitCode === 0 ? 'success' : 'failure', output }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof CriCallError)) throw error
    if (error.code !== 'DeadlineExceeded') return { result: 'error', output: error.rpcText, state: 'unknown' }
    const output = `command timed out: "${command.join(' ')}" timed out after ${timeoutSeconds}s`
    return { result: 'failure', output }
  }
}

import { DeadlineError } from '../../../base/async/abort-errors.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import type { PodNetwork } from '../pod-network.ts'
import type { ProbeOutcome } from '../probe-outcome.ts'
import { toAddress, toDialText } from '../to-dial-text.ts'

export interface TcpProbeDeps {
  readonly network: Pick<PodNetwork, 'dial'>
  readonly clock: Clock
}

export interface TcpProbeTarget {
  readonly host: string
  readonly port: number
  readonly timeoutSeconds: number
}

/** Connects, and closes again without a word. */
export async function runTcpProbe(
  { network, clock }: TcpProbeDeps,
  target: TcpProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const address = toAddress(target.host, target.port)
  const deadline = { clock, ms: target.timeoutSeconds * 1000, what: `the connection to ${address}` }
  try {
    await withDeadline(deadline, (late) => network.dial(target, late), signal)
    return { result: 'success', output: '' }
  } catch (error) {
    signal.throwIfAborted()
    const output = error instanceof DeadlineError ? `dial tcp ${address}: i/o timeout` : toDialText(error, address)
    return { result: 'failure', output }
  }
}

import { DeadlineError } from '../../../base/async/abort-errors.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import { BrokenAnswerError } from '../../../protocols/http/http-get.ts'
import type { HttpAnswer, HttpGetRequest } from '../../../protocols/http/http-get.ts'
import type { PodNetwork } from '../pod-network.ts'
import type { ProbeOutcome } from '../probe-outcome.ts'
import { toAddress, toDialText } from '../to-dial-text.ts'

export interface HttpProbeDeps {
  readonly network: Pick<PodNetwork, 'httpGet'>
  readonly clock: Clock
}

export interface HttpProbeTarget {
  readonly request: HttpGetRequest
  readonly timeoutSeconds: number
}

const TOO_LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'

/** GETs a path; the status of the answer is the answer. */
export async function runHttpProbe(
  { network, clock }: HttpProbeDeps,
  { request, timeoutSeconds }: HttpProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const address = toAddress(request.host, request.port)
  const url = `${request.scheme}://${address}${request.path.startsWith('/') ? '' : '/'}${request.path}`
  const deadline = { clock, ms: timeoutSeconds * 1000, what: `the request to ${url}` }
  try {
    return toOutcome(await withDeadline(deadline, (late) => network.httpGet(request, late), signal))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BrokenAnswerError) return { result: 'error', output: error.message, state: 'failure' }
    const why = error instanceof DeadlineError ? TOO_LATE : toDialText(error, address)
    return { result: 'failure', output: `Get "${url}": ${why}` }
  }
}

function toOutcome({ status, body }: HttpAnswer): ProbeOutcome {
  if (status >= 200 && status < 300) return { result: 'success', output: body }
  if (status >= 300 && status < 400) {
    return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` }
  }
  return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` }
}

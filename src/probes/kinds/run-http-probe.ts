import { DeadlineError } from '../../async/abort-errors.ts'
import type { Clock } from '../../async/clock.ts'
import { withDeadline } from '../../async/deadline.ts'
import { BrokenAnswerError, httpGet } from '../../http-client/http-get.ts'
import type { HttpAnswer, HttpHeader } from '../../http-client/http-get.ts'
import { OUTPUT_BYTES } from '../probe-outcome.ts'
import type { ProbeOutcome } from '../probe-outcome.ts'
import { toAddress, toDialText } from '../to-dial-text.ts'

export interface HttpProbeTarget {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  readonly path: string
  readonly headers: readonly HttpHeader[]
  readonly timeoutSeconds: number
}

/** Who asks, as servers know it from every kubelet of this version. */
export const PROBE_USER_AGENT = 'kube-probe/1.36'
const TOO_LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting the answer)'

/** GETs a path; the status of the answer is the answer. */
export async function runHttpProbe(
  { clock }: { readonly clock: Clock },
  target: HttpProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const address = toAddress(target.host, target.port)
  const url = `${target.scheme}://${address}${target.path.startsWith('/') ? '' : '/'}${target.path}`
  if (target.host === '') return { result: 'failure', output: `Get "${url}": the pod has no address` }
  const request = { ...target, headers: computeHeaders(target.headers, address), maxBodyBytes: OUTPUT_BYTES }
  const deadline = { clock, ms: target.timeoutSeconds * 1000, what: `the request to ${url}` }
  try {
    return toOutcome(await withDeadline(deadline, (late) => httpGet(request, late), signal))
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

/** Given headers come first; given as empty, Accept and User-Agent are not sent at all. */
function computeHeaders(given: readonly HttpHeader[], address: string): HttpHeader[] {
  const isNamed =
    (wanted: string) =>
    ({ name }: HttpHeader) =>
      name.toLowerCase() === wanted
  const defaults = [
    { name: 'Host', value: address },
    { name: 'User-Agent', value: PROBE_USER_AGENT },
    { name: 'Accept', value: '*/*' },
  ].filter(({ name }) => !given.some(isNamed(name.toLowerCase())))
  const isLeftOut = (header: HttpHeader) =>
    header.value === '' && (isNamed('accept')(header) || isNamed('user-agent')(header))
  const [host, ...otherHosts] = given.filter(isNamed('host'))
  return [
    ...defaults,
    ...given.filter(
      (header) => !isLeftOut(header) && !otherHosts.includes(header) && (header !== host || host.value !== ''),
    ),
  ]
}

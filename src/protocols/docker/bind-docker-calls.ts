import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { computeCallDeadline } from '../cri/compute-call-deadline.ts'
import { CriCallError } from '../cri/cri-call-error.ts'
import type { CriCalls } from '../cri/cri-calls.ts'
import { criServices } from '../cri/cri-methods.ts'
import type { CriMethod, CriRequest, CriResponse } from '../cri/cri-methods.ts'
import { findReplyFault } from '../cri/find-reply-fault.ts'
import { DockerAwayError, DockerError } from './api/docker-error.ts'
import { UnsupportedError } from './create/unsupported-error.ts'

type Unary = { [M in CriMethod]: CriCalls[M] extends (...args: never) => Promise<unknown> ? M : never }[CriMethod]

/** What is done for each call; the request is complete. */
export type DockerCalls = {
  readonly [M in Unary]?: (request: CriRequest<M>, signal: AbortSignal) => Promise<CriResponse<M>>
}

interface CallSettings {
  readonly requestTimeoutMs: number
  readonly clock: Clock
}

/** All calls of CRI that have one answer: with the same time limits and errors as over gRPC. What has no function here is not implemented. */
export function bindDockerCalls(calls: DockerCalls, settings: CallSettings): Pick<CriCalls, Unary> {
  const methods = [...Object.entries(criServices.runtime.methods), ...Object.entries(criServices.image.methods)]
  const bound = methods
    .filter(([, method]) => !method.responseStream)
    .map(([name, method]) => {
      const complete = (partial: object): object => method.requestType.fromPartial(partial)
      const call = calls[name as Unary] as ((request: object, signal: AbortSignal) => Promise<object>) | undefined
      return [
        name,
        (partial: object, signal: AbortSignal) =>
          call === undefined
            ? Promise.reject(notImplemented(name))
            : invoke(name as Unary, call, complete(partial), { ...settings, signal }),
      ]
    })
  return Object.fromEntries(bound) as Pick<CriCalls, Unary>
}

/** What users ask for by way of a call that Docker has nothing for. All others the agent does without. */
const CANNOT: Readonly<Partial<Record<string, string>>> = {
  checkpointContainer:
    'Docker cannot write a running container to an archive: run the pod on containerd 2 or CRI-O for that',
}

export function notImplemented(method: string): CriCallError {
  return new CriCallError(method, 'Unimplemented', CANNOT[method] ?? `Docker has no ${method}`)
}

async function invoke(
  name: Unary,
  call: (request: object, signal: AbortSignal) => Promise<object>,
  request: object,
  { requestTimeoutMs, clock, signal }: CallSettings & { readonly signal: AbortSignal },
): Promise<object> {
  signal.throwIfAborted()
  using scope = new AbortScope(signal)
  const timeoutMs = computeCallDeadline(name, request as never, requestTimeoutMs)
  if (timeoutMs !== 'none') {
    clock.sleep(timeoutMs, scope.signal).then(
      () => scope.abort(new DeadlineError(`no answer after ${timeoutMs / 1000} s`)),
      () => {},
    )
  }
  try {
    const reply = await call(request, scope.signal)
    const fault = findReplyFault(name, reply as never)
    if (fault !== undefined) throw new CriCallError(name, 'InvalidReply', fault)
    return reply
  } catch (error) {
    throw signal.aborted ? signal.reason : toDockerCallError(name, error)
  }
}

/** Docker's answers in the codes that loops decide by. */
export function toDockerCallError(method: string, error: unknown): CriCallError {
  if (error instanceof CriCallError) return error
  const detail = errorMessage(error)
  const options = { cause: error }
  if (error instanceof DeadlineError)
    return new CriCallError(method, 'DeadlineExceeded', `operation timeout: ${detail}`, options)
  if (error instanceof DockerAwayError) return new CriCallError(method, 'Unavailable', detail, options)
  if (error instanceof UnsupportedError) return new CriCallError(method, 'InvalidArgument', detail, options)
  if (error instanceof DockerError) {
    if (error.status === 404) return new CriCallError(method, 'NotFound', detail, options)
    if (error.status === 503) return new CriCallError(method, 'Unavailable', detail, options)
  }
  return new CriCallError(method, 'Unknown', detail, options)
}

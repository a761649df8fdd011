import { PlainHttpError } from '../../../protocols/http/http-get.ts'
import { toHttpGetRequest } from '../../../protocols/http/to-http-get-request.ts'
import type { HTTPGetAction } from '../../../model/generated/core-v1.ts'
import { containerFieldPath, containerKind } from '../../../model/pod/pod-containers.ts'
import { toAddress } from '../../probes/to-dial-text.ts'
import { HookError } from './hook-error.ts'
import type { HookRequest } from './hook-request.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { PodLifeMetrics } from '../../../metrics/pod-life-metrics.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import type { httpGet } from '../../../protocols/http/http-get.ts'

export interface HttpHookDeps {
  readonly httpGet: typeof httpGet
  readonly events: PodEvents
  readonly metrics: Pick<PodLifeMetrics, 'hookFellBack'>
}

const USER_AGENT = 'kube-lifecycle/1.36'

/** Asks the container; any answer will do. One that speaks plain HTTP where HTTPS was meant is asked again that way. */
export async function runHttpHook(
  deps: HttpHookDeps,
  hook: HookRequest & { readonly httpGet: HTTPGetAction },
  signal: AbortSignal,
): Promise<void> {
  try {
    const request = toHttpGetRequest(hook.httpGet, { ...hook, userAgent: USER_AGENT })
    try {
      await deps.httpGet(request, signal)
    } catch (error) {
      if (!(error instanceof PlainHttpError)) throw error
      // Who listens on an open line must not get to see it.
      const headers = request.headers.filter(({ name }) => name.toLowerCase() !== 'authorization')
      await deps.httpGet({ ...request, scheme: 'http', headers }, signal)
      deps.metrics.hookFellBack()
      reportFallback(deps, hook, toAddress(request.host, request.port))
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new HookError(`Cannot ask the container: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

function reportFallback(deps: HttpHookDeps, { pod, container }: HookRequest, host: string): void {
  deps.events.record(pod, {
    type: 'Warning',
    reason: 'LifecycleHTTPFallback',
    message: `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`,
    fieldPath: containerFieldPath(containerKind(pod, container.name), container.name),
  })
}

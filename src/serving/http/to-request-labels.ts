import type { RequestLabels } from '../../metrics/serving-metrics.ts'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const LONG_RUNNING = new Set(['exec', 'attach', 'debug'])

/** What a request counts as. All of it comes from closed sets: a stranger must not be able to make new series. */
export function toRequestLabels(
  method: string | undefined,
  path: string,
  serverType: RequestLabels['serverType'],
): RequestLabels {
  return {
    method: method !== undefined && METHODS.has(method) ? method : 'other',
    path,
    serverType,
    longRunning: LONG_RUNNING.has(path),
  }
}

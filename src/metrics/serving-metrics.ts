import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What a request counts as; each from a closed set. */
export interface RequestLabels {
  readonly method: string
  /** The first part of the path of the endpoint; "other" where none is. */
  readonly path: string
  readonly serverType: 'readonly' | 'readwrite'
  readonly longRunning: boolean
}

/** What is counted of requests to us. */
export interface HttpMetrics {
  requestStarted(labels: RequestLabels): void
  requestEnded(labels: RequestLabels, seconds: number): void
}

const LABELS = ['long_running', 'method', 'path', 'server_type'] as const

export function createHttpMetrics(set: MetricSet): HttpMetrics {
  const inFlight = set.gauge({
    name: 'kubelet_http_inflight_requests',
    help: 'Requests that are being answered.',
    labels: LABELS,
  })
  const total = set.counter({ name: 'kubelet_http_requests_total', help: 'Requests since the start.', labels: LABELS })
  const durations = set.histogram({
    name: 'kubelet_http_requests_duration_seconds',
    help: 'How long answers to requests take.',
    labels: LABELS,
  })
  const toLabels = ({ method, path, serverType, longRunning }: RequestLabels) => ({
    method,
    path,
    server_type: serverType,
    long_running: String(longRunning),
  })
  return {
    requestStarted(labels) {
      total.inc(toLabels(labels))
      inFlight.inc(toLabels(labels))
    },
    requestEnded(labels, seconds) {
      inFlight.dec(toLabels(labels))
      durations.observe(toLabels(labels), seconds)
    },
  }
}

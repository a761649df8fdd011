import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of streams. */
export interface StreamMetrics {
  /** A client speaks WebSocket with us, not with the runtime. */
  webSocketRequest(subresource: 'exec' | 'attach' | 'portforward'): void
}

export function createStreamMetrics(set: MetricSet): StreamMetrics {
  const webSockets = set.counter({
    name: 'kubelet_websocket_streaming_requests_total',
    help: 'Streams over WebSockets that end here.',
    labels: ['subresource'],
  })
  return { webSocketRequest: (subresource) => webSockets.inc({ subresource }) }
}

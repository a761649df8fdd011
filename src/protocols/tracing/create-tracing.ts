import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { TracingMetrics } from '../../metrics/api-client-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { SpanAttributes, Tracer } from '../../base/telemetry/tracer.ts'
import { OtlpClient } from './otlp-client.ts'
import { SpanExporter } from './span-exporter.ts'
import { SpanRecorder } from './span-recorder.ts'
import { toExportRequest } from './to-export-request.ts'

export interface TracingDeps {
  readonly endpoint: string
  readonly samplingRatePerMillion: number
  /** Who we are, for whoever reads the traces. */
  readonly attributes: SpanAttributes
  readonly version: string
  readonly metrics: TracingMetrics
  readonly clock: Clock
  readonly log: Logger
}

export interface Tracing extends Disposable {
  readonly tracer: Tracer
  /** Sends what was traced until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Traces what the agent does and sends it to a collector. */
export function createTracing(deps: TracingDeps): Tracing {
  const { endpoint, samplingRatePerMillion, clock, log, metrics } = deps
  const client = new OtlpClient(endpoint, clock)
  const exporter = new SpanExporter({
    async send(spans, signal) {
      const { partialSuccess } = await client.send(toExportRequest(deps, spans), signal)
      const rejected = Number(partialSuccess?.rejectedSpans ?? 0)
      if (rejected > 0) log.warn('the collector did not take all spans', { error: partialSuccess?.errorMessage })
      return spans.length - rejected
    },
    metrics,
    clock,
    log,
  })
  const tracer = new SpanRecorder({ samplingRatePerMillion, clock, randomBytes, onEnd: (span) => exporter.add(span) })
  return { tracer, run: (signal) => exporter.run(signal), [Symbol.dispose]: () => client[Symbol.dispose]() }
}

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { TracingMetrics } from '../../metrics/api-client-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { SpanAttributes, Tracer } from '../../base/telemetry/tracer.ts'
import { SpanExporter } from './span-exporter.ts'
import { SpanRecorder } from './span-recorder.ts'
import { toExportRequest } from './to-export-request.ts'
import { GrpcChannel } from '../grpc/grpc-channel.ts'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import { TraceServiceDefinition } from './generated/otlp-trace.ts'

const exportTraces = toGrpcMethod(TraceServiceDefinition.fullName, TraceServiceDefinition.methods.export)

export interface TracingDeps {
  /** As in "host:4317", "dns:host:4317", "unix:/path" or "unix-abstract:name". */
  readonly endpoint: string
  readonly samplingRatePerMillion: number
  /** Identifies this agent in the traces. */
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
  const channel = new GrpcChannel({ target: toTarget(endpoint), clock })
  const exporter = new SpanExporter({
    async send(spans, signal) {
      const { partialSuccess } = await channel.unary(exportTraces, toExportRequest(deps, spans), {}, signal)
      const rejected = Number(partialSuccess?.rejectedSpans ?? 0)
      if (rejected > 0) log.warn('the collector did not take all spans', { error: partialSuccess?.errorMessage })
      return spans.length - rejected
    },
    metrics,
    clock,
    log,
  })
  const tracer = new SpanRecorder({ samplingRatePerMillion, clock, randomBytes, onEnd: (span) => exporter.add(span) })
  return { tracer, run: (signal) => exporter.run(signal), [Symbol.dispose]: () => channel.close() }
}

/** Names without a file begin with a zero byte. */
function toTarget(endpoint: string): string {
  return endpoint.replace(/^unix-abstract:/i, 'unix:\0')
}

import type { SpanAttributes, SpanContext, SpanOptions } from '../../base/telemetry/tracer.ts'

/** A span that has ended. */
export interface FinishedSpan {
  readonly name: string
  readonly kind: NonNullable<SpanOptions['kind']>
  readonly context: SpanContext
  readonly parentSpanId: string | undefined
  readonly link: SpanContext | undefined
  readonly attributes: SpanAttributes
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly endedAt: number
  /** What it failed with. */
  readonly error: string | undefined
}

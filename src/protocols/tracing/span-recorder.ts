import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../base/async/clock.ts'
import type { Span, SpanAttributes, SpanContext, SpanOptions, Tracer } from '../../base/telemetry/tracer.ts'
import { computeIsSampled } from './compute-is-sampled.ts'
import type { FinishedSpan } from './finished-span.ts'
import { errorText } from '../../base/telemetry/error-text.ts'

export interface SpanRecorderDeps {
  /** Of a million traces that begin here; a trace that comes from elsewhere was decided on there. */
  readonly samplingRatePerMillion: number
  readonly clock: Clock
  readonly randomBytes: (length: number) => Buffer
  readonly onEnd: (span: FinishedSpan) => void
}

interface UnderWay {
  readonly context: SpanContext
  hasEnded: boolean
}

/** Keeps what is done as spans, each under the one in which it began. What is not sampled has a context, and nothing else. */
export class SpanRecorder implements Tracer {
  readonly #deps: SpanRecorderDeps
  readonly #current = new AsyncLocalStorage<UnderWay>()

  constructor(deps: SpanRecorderDeps) {
    this.#deps = deps
  }

  async span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
    const parent = options.link === undefined ? (options.parent ?? this.#findCurrent()) : undefined
    const context = this.#createContext(parent)
    const current: UnderWay = { context, hasEnded: false }
    try {
      if (!context.isSampled) return await this.#current.run(current, work, { context, set() {} })
      const inside = (span: Span) => this.#current.run(current, work, span)
      return await this.#record({ name, options, parent, context }, inside)
    } finally {
      current.hasEnded = true
    }
  }

  /** What began in a span and outlives it, such as the probes of a pod, does not belong to it for ever. */
  #findCurrent(): SpanContext | undefined {
    const current = this.#current.getStore()
    return current?.hasEnded === false ? current.context : undefined
  }

  async #record<T>(
    begun: {
      readonly name: string
      readonly options: SpanOptions
      readonly parent: SpanContext | undefined
      readonly context: SpanContext
    },
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const { clock, onEnd } = this.#deps
    const { name, options, parent, context } = begun
    let attributes: SpanAttributes = options.attributes ?? {}
    const set = (more: SpanAttributes) => void (attributes = { ...attributes, ...more })
    const [startedAt, measuredFrom] = [clock.now(), clock.monotonic()]
    const end = (error: string | undefined) =>
      onEnd({
        name,
        kind: options.kind ?? 'internal',
        context,
        parentSpanId: parent?.spanId,
        link: options.link,
        attributes,
        startedAt,
        endedAt: startedAt + (clock.monotonic() - measuredFrom),
        error,
      })
    try {
      const result = await work({ context, set })
      end(undefined)
      return result
    } catch (error) {
      end(errorText(error))
      throw error
    }
  }

  #createContext(parent: SpanContext | undefined): SpanContext {
    const { randomBytes, samplingRatePerMillion } = this.#deps
    const spanId = randomBytes(8).toString('hex')
    if (parent !== undefined) return { traceId: parent.traceId, spanId, isSampled: parent.isSampled }
    const traceId = randomBytes(16).toString('hex')
    return { traceId, spanId, isSampled: computeIsSampled(traceId, samplingRatePerMillion) }
  }
}

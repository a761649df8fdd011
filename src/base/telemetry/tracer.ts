/** What is known of a span besides its name and its times. */
export type SpanAttributes = Readonly<Record<string, string | number>>

/** Where a span stands: of its own process or, from a request, of another. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

export interface SpanOptions {
  readonly kind?: 'internal' | 'server' | 'client'
  readonly attributes?: SpanAttributes
  /** Of another process; without it the span that is under way here. */
  readonly parent?: SpanContext | undefined
  /** Related, but not trusted: the span begins a trace of its own. */
  readonly link?: SpanContext | undefined
}

/** A span under way. */
export interface Span {
  /** Undefined where nothing is traced. */
  readonly context: SpanContext | undefined
  set(attributes: SpanAttributes): void
}

/** Shows what the agent does, and what belongs together, to a collector of traces. */
export interface Tracer {
  /** Runs work as a span; all spans that begin in it belong to it. What it fails with is noted. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
}

const NO_SPAN: Span = { context: undefined, set() {} }

/** Traces nothing, and costs nothing. */
export const noTracer: Tracer = { span: (_name, _options, work) => work(NO_SPAN) }

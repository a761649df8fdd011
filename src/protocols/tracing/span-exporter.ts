import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { TracingMetrics } from '../../metrics/api-client-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { FinishedSpan } from './finished-span.ts'

export interface SpanExporterDeps {
  /** Gives how many were taken. */
  readonly send: (spans: readonly FinishedSpan[], signal: AbortSignal) => Promise<number>
  readonly metrics: TracingMetrics
  readonly clock: Clock
  readonly log: Logger
}

// As OpenTelemetry's own exporters have it.
const MOST_WAITING = 2048
const LARGEST_BATCH = 512
const BATCH_EVERY_MS = 5000
const SEND_MS = 10_000
// The agent's end does not wait for a collector.
const LAST_SEND_MS = 1000

/** Collects spans and sends them in batches. It never blocks its callers: what is too much is dropped and counted. */
export class SpanExporter {
  readonly #deps: SpanExporterDeps
  readonly #waiting: FinishedSpan[] = []
  readonly #wakeup = new Wakeup()
  #isFailing = false

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps
  }

  add(span: FinishedSpan): void {
    if (this.#waiting.length >= MOST_WAITING) return this.#deps.metrics.spansDropped(1)
    this.#waiting.push(span)
    if (this.#waiting.length >= LARGEST_BATCH) this.#wakeup.wake()
  }

  /** Sends until the signal aborts, and then once more what is left. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    try {
      for (;;) {
        await this.#wakeup.wait({ clock, ms: BATCH_EVERY_MS }, signal)
        while (this.#waiting.length > 0) await this.#send(SEND_MS, signal)
      }
    } finally {
      if (this.#waiting.length > 0) await this.#send(LAST_SEND_MS, new AbortController().signal)
    }
  }

  async #send(ms: number, signal: AbortSignal): Promise<void> {
    const { send, metrics, clock, log } = this.#deps
    const batch = this.#waiting.splice(0, LARGEST_BATCH)
    try {
      const taken = await withDeadline({ clock, ms, what: 'the export of spans' }, (s) => send(batch, s), signal)
      metrics.spansExported(taken)
      if (taken < batch.length) metrics.spansDropped(batch.length - taken)
      if (this.#isFailing) log.info('spans are exported again')
      this.#isFailing = false
    } catch (error) {
      metrics.spansDropped(batch.length)
      signal.throwIfAborted()
      if (!this.#isFailing) log.warn('cannot export spans, they are dropped until it works again', { error })
      this.#isFailing = true
    }
  }
}

import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { RuntimeHint } from '../../protocols/cri/to-runtime-hint.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { computeExpectedHints } from './compute-expected-hints.ts'
import { partIds } from './part-ids.ts'

// A runtime reports a start before it answers the call, and an exit before its lists show it.
const EVENT_WAIT_MS = 1000
// What is not observed by then has gone again, or is not ours.
const KEPT_MS = 120_000

/**
 * Whether the stream of events may be relied upon: a runtime, or a proxy before it, may accept the call and never send anything. Proven by an
 * event, doubted when a start or an end was observed of which no event came, until the next one comes.
 */
export class EventTrust {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #wakeup = new Wakeup()
  /** By container and kind, when it was reported. */
  readonly #reported = new Map<string, { readonly containerId: string; readonly at: number }>()
  /** What was observed and is not reported, and until when it may still be. */
  readonly #missing = new Map<string, { readonly containerId: string; readonly until: number }>()
  #state: 'unproven' | 'proven' | 'doubted' = 'unproven'
  #isExpecting = false

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock
    this.#log = log
  }

  get state(): 'unproven' | 'proven' | 'doubted' {
    return this.#state
  }

  /** The stream was opened, or broke: another one has to be proven. What happens meanwhile need not be reported. */
  streamChanged(): void {
    this.#isExpecting = false
    this.#missing.clear()
    if (this.#state === 'proven') this.#state = 'unproven'
  }

  /** What is observed from now on must have been reported, or soon be. */
  expectEvents(): void {
    this.#isExpecting = true
  }

  /** An event came. */
  reported({ containerId, kind }: RuntimeHint): void {
    if (kind === 'started' || kind === 'exited' || kind === 'stopped') {
      const key = `${kind === 'exited' ? 'stopped' : kind} ${containerId}`
      this.#reported.set(key, { containerId, at: this.#clock.monotonic() })
      this.#missing.delete(key)
    }
    if (this.#state === 'doubted') this.#log.info('runtime events come again, relisting seldom')
    this.#state = 'proven'
  }

  /** A pod was observed. */
  observed(before: ObservedPod | undefined, now: ObservedPod | undefined): void {
    const left = new Set(partIds(now))
    for (const id of partIds(before)) {
      if (left.has(id)) continue
      this.#reported.delete(`started ${id}`)
      this.#reported.delete(`stopped ${id}`)
    }
    if (!this.#isExpecting) return
    const until = this.#clock.monotonic() + EVENT_WAIT_MS
    for (const { containerId, kind } of computeExpectedHints(before, now)) {
      const key = `${kind} ${containerId}`
      if (this.#reported.has(key)) continue
      this.#missing.set(key, { containerId, until })
      this.#wakeup.wake()
    }
  }

  /** Forgets what was reported of containers that were gone before they were observed, or were never ours. */
  forget(isKnown: (containerId: string) => boolean): void {
    const oldest = this.#clock.monotonic() - KEPT_MS
    for (const [key, { containerId, at }] of this.#reported)
      if (at < oldest && !isKnown(containerId)) this.#reported.delete(key)
  }

  /** Waits for the events that are missing, until the signal aborts. Each one that does not come is a reason to doubt. */
  async run(onDoubt: () => void, signal: AbortSignal): Promise<void> {
    for (;;) {
      // What was observed first is the first to be late.
      const [first] = this.#missing.values()
      const ms = first && Math.max(0, first.until - this.#clock.monotonic())
      await this.#wakeup.wait({ clock: this.#clock, ms }, signal)
      if (this.#removeLate()) onDoubt()
    }
  }

  #removeLate(): boolean {
    const now = this.#clock.monotonic()
    const late = [...this.#missing].filter(([, { until }]) => until <= now)
    for (const [key] of late) this.#missing.delete(key)
    const [first] = late
    if (first === undefined) return false
    if (this.#state !== 'doubted')
      this.#log.warn('the runtime did not report what a container did, relying on relists', {
        containerId: first[1].containerId,
      })
    this.#state = 'doubted'
    return true
  }
}

import type { Clock } from '../../base/async/clock.ts'
import { computeRelistProblem } from './compute-relist-problem.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

const STUCK_MS = 300_000
const TOO_LARGE = {
  type: 'Warning',
  reason: 'RuntimeListsTooLarge',
  message:
    'The lists of the container runtime are larger than a message may be (16 MiB), pods are observed one by one. Remove dead containers, or shorten annotations of pods.',
} as const

interface RelistHealthDeps {
  readonly syncFrequencyMs: number
  readonly metrics: Pick<AgentMetrics, 'relist' | 'listTooLarge'>
  /** About the node. */
  readonly events: Pick<NodeEvents, 'record'>
  readonly clock: Clock
  readonly log: Logger
}

/** How long ago the runtime was relisted. Counted by the monotonic clock: the node must stay ready when its time of day is set. */
export class RelistHealth {
  readonly #deps: RelistHealthDeps
  #lastAt: number
  #isBlind = false
  #isShort = false
  #isTooLarge = false
  #wasTooLarge = false
  /** Since the last relist. */
  #omissions = 0

  constructor(deps: RelistHealthDeps) {
    this.#deps = deps
    this.#lastAt = deps.clock.monotonic()
  }

  /** A relist was done, or tried. */
  note({ ms, error }: { readonly ms: number; readonly error?: unknown }): void {
    const { metrics, clock, log } = this.#deps
    this.#lastAt = clock.monotonic()
    if (error === undefined) metrics.relist(ms / 1000, clock.now())
    else if (!this.#isBlind) log.warn('cannot relist the runtime, will try again', { error })
    this.#isBlind = error !== undefined
    this.#wasTooLarge = this.#isTooLarge
    this.#isTooLarge = false
    this.#isShort = this.#omissions > 0
    this.#omissions = 0
  }

  /** The runtime left out of its lists what it has. It is reported once, until a relist was complete again. */
  omitted(ids: readonly string[]): void {
    this.#omissions += ids.length
    if (!this.#isShort) this.#deps.log.warn('the lists of the runtime are not complete, all pods are kept', { ids })
    this.#isShort = true
  }

  /** A list of everything is larger than the runtime can send. It is reported once, until one was not. */
  tooLarge(): void {
    const { metrics, events, log } = this.#deps
    const isKnown = this.#isTooLarge || this.#wasTooLarge
    this.#isTooLarge = true
    metrics.listTooLarge()
    if (isKnown) return
    log.warn('the lists of the runtime are too large to be sent, pods are asked for one by one')
    events.record(TOO_LARGE)
  }

  /** Why the node is not ready. */
  problems(): readonly string[] {
    return computeRelistProblem(this.#deps.clock.monotonic() - this.#lastAt)
  }

  /** Why the agent is not well; undefined when it is. */
  stuck(): string | undefined {
    const { syncFrequencyMs, clock } = this.#deps
    const stuckMs = Math.max(STUCK_MS, 2 * syncFrequencyMs)
    return clock.monotonic() - this.#lastAt > stuckMs
      ? `no relist of the runtime was tried for ${stuckMs / 1000} s`
      : undefined
  }
}

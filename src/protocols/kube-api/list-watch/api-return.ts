import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { Transport } from '../transport/transport.ts'

/** A hint for all that talk to one API: it answers. Those that could not reach it end their pauses, so that none is late with what the others need. */
export class ApiReturn {
  readonly #waiting = new Set<Wakeup>()
  readonly #listeners: (() => void)[] = []

  /** After each good answer to any client. */
  reached(): void {
    for (const wakeup of this.#waiting) wakeup.wake()
    for (const listener of this.#listeners) listener()
  }

  /** For what has a wait of its own. Called often: has to be cheap where nothing waits. */
  onReached(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The pauses of one caller. */
  pauses(): ApiPauses {
    return new ApiPauses(this.#waiting)
  }
}

/** Lets a hint end at most one pause in the time of that pause: a caller that fails where others succeed is not driven by their successes. */
export class HintLimit {
  #takenAt = -Infinity

  /** True when a hint may end a pause of this length now; then it counts as taken. */
  take(now: number, pauseMs: number): boolean {
    if (now < this.#takenAt + pauseMs) return false
    this.#takenAt = now
    return true
  }

  /** How long a pause that begins now lasts whatever the hints say. */
  leastMs(now: number, pauseMs: number): number {
    return Math.min(pauseMs, Math.max(0, this.#takenAt + pauseMs - now))
  }
}

/** Ends a pause of a caller that could not reach the API when it answers another. */
export interface ApiPause {
  wait(options: { readonly clock: Clock; readonly ms: number }, signal: AbortSignal): Promise<void>
}

class ApiPauses implements ApiPause {
  readonly #waiting: Set<Wakeup>
  readonly #limit = new HintLimit()

  constructor(waiting: Set<Wakeup>) {
    this.#waiting = waiting
  }

  /** Returns when the API has answered another caller, after ms at the latest. */
  async wait({ clock, ms }: { readonly clock: Clock; readonly ms: number }, signal: AbortSignal): Promise<void> {
    const endsAt = clock.monotonic() + ms
    const leastMs = this.#limit.leastMs(clock.monotonic(), ms)
    const wakeup = new Wakeup()
    this.#waiting.add(wakeup)
    try {
      if (leastMs > 0) await clock.sleep(leastMs, signal)
      if (leastMs < ms) await wakeup.wait({ clock, ms: ms - leastMs }, signal)
    } finally {
      this.#waiting.delete(wakeup)
    }
    if (clock.monotonic() < endsAt) this.#limit.take(clock.monotonic(), 0)
  }
}

/** The same connections; each good answer is a hint for all. */
export function hintAnswers(transport: Transport, apiReturn: ApiReturn): Transport {
  return {
    host: transport.host,
    closeAll: (why) => transport.closeAll(why),
    async request(request, signal) {
      const response = await transport.request(request, signal)
      if (response.status < 300) apiReturn.reached()
      return response
    },
  }
}

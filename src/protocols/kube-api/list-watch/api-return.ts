import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'

/** Ends the pauses of all who could not reach the API as soon as one of them does, so that nobody is late with what the others need. */
export class ApiReturn {
  readonly #waiting = new Set<Wakeup>()

  reached(): void {
    for (const wakeup of this.#waiting) wakeup.wake()
  }

  /** Returns when somebody reached the API, after ms at the latest. */
  async wait(options: { readonly clock: Clock; readonly ms: number }, signal: AbortSignal): Promise<void> {
    const wakeup = new Wakeup()
    this.#waiting.add(wakeup)
    try {
      await wakeup.wait(options, signal)
    } finally {
      this.#waiting.delete(wakeup)
    }
  }
}

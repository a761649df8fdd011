import { AbortScope } from './abort-scope.ts'
import type { Clock } from './clock.ts'

/** A signal for one waiter. Signals while it does not wait are kept as one, so none is lost and none queues up. */
export class Wakeup {
  #rung = false
  #ring: (() => void) | undefined

  wake(): void {
    this.#rung = true
    this.#ring?.()
  }

  /** Returns at the next ring, or after ms when that is given. Rejects with the signal's reason when it aborts. */
  async wait(options: { readonly clock: Clock; readonly ms: number | undefined }, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (!this.#rung) {
      using scope = new AbortScope(signal)
      const rung = new Promise<void>((resolve, reject) => {
        this.#ring = resolve
        scope.signal.addEventListener('abort', () => reject(scope.signal.reason), { once: true })
      })
      try {
        await (options.ms === undefined ? rung : Promise.race([rung, options.clock.sleep(options.ms, scope.signal)]))
      } finally {
        this.#ring = undefined
        // What loses the race is rejected when the scope ends, and no one waits for it then.
        rung.catch(() => {})
      }
    }
    this.#rung = false
  }
}

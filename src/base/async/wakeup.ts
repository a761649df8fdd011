import { AbortScope } from './abort-scope.ts'
import type { Clock } from './clock.ts'

/** A signal for one waiter. Signals while it does not wait are kept as one, so none is lost and none queues up. */
export class Wakeup {
  #isSignalled = false
  #resolve: (() => void) | undefined

  wake(): void {
    this.#isSignalled = true
    this.#resolve?.()
  }

  /** Returns at the next signal, or after ms when that is given. Rejects with the signal's reason when it aborts. */
  async wait(options: { readonly clock: Clock; readonly ms: number | undefined }, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (!this.#isSignalled) {
      using scope = new AbortScope(signal)
      const signalled = new Promise<void>((resolve, reject) => {
        this.#resolve = resolve
        scope.signal.addEventListener('abort', () => reject(scope.signal.reason), { once: true })
      })
      try {
        await (options.ms === undefined
          ? signalled
          : Promise.race([signalled, options.clock.sleep(options.ms, scope.signal)]))
      } finally {
        this.#resolve = undefined
        // What loses the race is rejected when the scope ends, and no one waits for it then.
        signalled.catch(() => {})
      }
    }
    this.#isSignalled = false
  }
}

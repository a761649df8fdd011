import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../src/base/async/clock.ts'

interface Sleeper {
  readonly wakeAt: number
  readonly wake: () => void
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number
  #offset = 0
  readonly #sleepers = new Set<Sleeper>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): number {
    return this.#now + this.#offset
  }

  monotonic(): number {
    return this.#now
  }

  /** Sets the time of day, as an administrator does: sleepers are not woken. */
  step(ms: number): void {
    this.#offset += ms
  }

  /** How many sleeps wait; 0 at the end of a test means that nothing was left behind. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const sleeper: Sleeper = {
        wakeAt: this.#now + ms,
        wake: () => {
          signal.removeEventListener('abort', abort)
          resolve()
        },
      }
      const abort = () => {
        this.#sleepers.delete(sleeper)
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#sleepers.add(sleeper)
    })
  }

  /** Moves time on, waking sleepers in order; what they start may sleep again and is woken too if its time comes. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    await setImmediate()
    for (;;) {
      const [next] = [...this.#sleepers].filter(({ wakeAt }) => wakeAt <= target).sort((a, b) => a.wakeAt - b.wakeAt)
      if (next === undefined) break
      this.#now = Math.max(this.#now, next.wakeAt)
      this.#sleepers.delete(next)
      next.wake()
      await setImmediate()
    }
    this.#now = target
    await setImmediate()
  }
}

import type { Clock } from '../../../base/async/clock.ts'
import type { TimelineStep } from './timeline-step.ts'
import { errorText } from '../../../base/telemetry/error-text.ts'

// Enough for the whole start of a pod and some restarts; the oldest go first.
const MOST_STEPS = 60

/** What happened to a pod, step by step, with durations. */
export class Timeline {
  readonly #clock: Clock
  readonly #steps: TimelineStep[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get steps(): readonly TimelineStep[] {
    return this.#steps
  }

  /** Notes a step as it is. */
  note(step: TimelineStep): void {
    this.#steps.push(step)
    if (this.#steps.length > MOST_STEPS) this.#steps.shift()
  }

  /** Notes that a step begins; what is returned notes its end. */
  begin(name: string): (error?: unknown) => void {
    const begun = this.#clock.monotonic()
    let step: TimelineStep = { name, startedAt: this.#clock.now(), ms: undefined, error: undefined }
    this.note(step)
    return (error) => {
      if (step.ms !== undefined) return
      const index = this.#steps.indexOf(step)
      step = { ...step, ms: this.#clock.monotonic() - begun, error: error === undefined ? undefined : errorText(error) }
      if (index !== -1) this.#steps[index] = step
    }
  }

  /** Notes a step around some work. */
  async around<T>(name: string, work: () => Promise<T>): Promise<T> {
    const end = this.begin(name)
    try {
      const result = await work()
      end()
      return result
    } catch (error) {
      end(error)
      throw error
    }
  }
}

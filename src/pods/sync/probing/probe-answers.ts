import type { Clock } from '../../../base/async/clock.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { ProbeAnswer } from '../../probes/probe-outcome.ts'
import type { Timeline } from '../explain/timeline.ts'

// What containers print may be long; the event has all of it.
const MOST_CHARACTERS = 300

/** The last answer to each probe of a pod; the timeline gets one entry whenever a probe begins to answer otherwise. */
export class ProbeAnswers {
  readonly #clock: Clock
  readonly #timeline: Timeline
  readonly #last = new Map<string, ProbeAnswer>()

  constructor(clock: Clock, timeline: Timeline) {
    this.#clock = clock
    this.#timeline = timeline
  }

  note(answer: ProbeAnswer): void {
    const name = nameOf(answer)
    const before = this.#last.get(name)
    this.#last.set(name, answer)
    const isSame = before?.containerId === answer.containerId && isGood(before) === isGood(answer)
    if (isSame) return
    const error = isGood(answer) ? undefined : textOf(answer)
    this.#timeline.note({ name, startedAt: this.#clock.now() - answer.ms, ms: answer.ms, error })
  }

  /** What fails now, in words. */
  failures(observed: ObservedPod | undefined): readonly string[] {
    return [...this.#last.values()]
      .filter((answer) => {
        const instance = observed === undefined ? undefined : newestInstance(observed, answer.container)
        return !isGood(answer) && instance?.id === answer.containerId && instance.state === 'running'
      })
      .map((answer) => `${nameOf(answer)} fails: ${textOf(answer)}`)
  }
}

function nameOf({ type, container }: ProbeAnswer): string {
  return `${type} probe of container "${container}"`
}

function isGood({ outcome }: ProbeAnswer): boolean {
  return outcome.result === 'success' || outcome.result === 'warning'
}

function textOf({ outcome }: ProbeAnswer): string {
  const text = outcome.output.trim()
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

import type { Clock } from '../../../base/async/clock.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { ProbeAnswer, ProbeOutcome, ProbeType } from '../../probes/probe-outcome.ts'
import type { Timeline } from '../explain/timeline.ts'

// What containers print may be long; the event has all of it.
const MOST_CHARACTERS = 300

/** What a probe of a pod answered last, for people. */
export interface ProbeReport {
  readonly container: string
  readonly type: ProbeType
  readonly result: ProbeOutcome['result']
  readonly output: string
  /** When it was asked, in milliseconds since the epoch, and how long the answer took. */
  readonly at: number
  readonly ms: number
  /** Since when it answers like this. */
  readonly since: number
  /** False where the instance that answered has ended. */
  readonly isCurrent: boolean
}

interface Noted {
  readonly answer: ProbeAnswer
  readonly at: number
  readonly since: number
}

/** The last answer to each probe of a pod; the timeline gets one entry whenever a probe begins to answer otherwise. */
export class ProbeAnswers {
  readonly #clock: Clock
  readonly #timeline: Timeline
  readonly #last = new Map<string, Noted>()

  constructor(clock: Clock, timeline: Timeline) {
    this.#clock = clock
    this.#timeline = timeline
  }

  note(answer: ProbeAnswer): void {
    const name = nameOf(answer)
    const before = this.#last.get(name)
    const at = this.#clock.now() - answer.ms
    const isSame = before?.answer.containerId === answer.containerId && isGood(before.answer) === isGood(answer)
    this.#last.set(name, { answer, at, since: isSame ? before.since : at })
    if (isSame) return
    const error = isGood(answer) ? undefined : textOf(answer)
    this.#timeline.note({ name, startedAt: at, ms: answer.ms, error })
  }

  /** What each probe answered last. */
  reports(observed: ObservedPod | undefined): readonly ProbeReport[] {
    return [...this.#last.values()].map(({ answer, at, since }) => {
      const { container, type, outcome, ms } = answer
      const isCurrent = isOfRunning(answer, observed)
      return { container, type, result: outcome.result, output: textOf(answer), at, ms, since, isCurrent }
    })
  }

  /** What fails now, in words. */
  failures(observed: ObservedPod | undefined): readonly string[] {
    return [...this.#last.values()]
      .map(({ answer }) => answer)
      .filter((answer) => !isGood(answer) && isOfRunning(answer, observed))
      .map((answer) => `${nameOf(answer)} fails${textOf(answer) === '' ? ', and says nothing' : `: ${textOf(answer)}`}`)
  }
}

function isOfRunning({ container, containerId }: ProbeAnswer, observed: ObservedPod | undefined): boolean {
  const instance = observed === undefined ? undefined : newestInstance(observed, container)
  return instance?.id === containerId && instance.state === 'running'
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

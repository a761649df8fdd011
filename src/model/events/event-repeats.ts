// The API forgets an event after an hour, and a pod that is stuck for longer should still say why. More often than this would only be counted up.
const REPEAT_MS = 60_000

interface ReportedEvent {
  readonly text: string
  readonly at: number
}

/** A Map, or a WeakMap to forget what is gone. */
interface Store<Subject> {
  get(subject: Subject): ReportedEvent | undefined
  set(subject: Subject, event: ReportedEvent): unknown
  delete(subject: Subject): boolean
}

/** Remembers which events about lasting trouble were recorded, so that each is repeated now and then however often its cause is seen. */
export class EventRepeats<Subject> {
  readonly #reported: Store<Subject>

  constructor(reported: Store<Subject>) {
    this.#reported = reported
  }

  /** Is it to be recorded now? It is another than the last one about its subject, or that was long ago. The time is monotonic. */
  isDue(subject: Subject, text: string, now: number): boolean {
    const last = this.#reported.get(subject)
    if (last?.text === text && now - last.at < REPEAT_MS) return false
    this.#reported.set(subject, { text, at: now })
    return true
  }

  /** The same of trouble that mostly passes by itself: what is seen for the first time is only remembered. */
  isDueWhileItLasts(subject: Subject, text: string, now: number): boolean {
    const isKnown = this.#reported.get(subject)?.text === text
    return this.isDue(subject, text, now) && isKnown
  }

  /** The trouble is over: should it come back, that is news. */
  forget(subject: Subject): void {
    this.#reported.delete(subject)
  }
}

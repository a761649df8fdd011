import { BackOff } from '../../base/async/back-off.ts'
import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { EventRepeats } from '../../model/events/event-repeats.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { Remains } from '../../system/directories/remove-own-directory.ts'

interface PodRemainsDeps {
  /** Is this pod desired, or still being ended? */
  readonly knows: (uid: PodUid) => boolean
  readonly events: NodeEvents
  readonly clock: Clock
  readonly log: Logger
}

interface Removal {
  readonly uid: PodUid
  /** Tries it again. */
  readonly retry: () => Promise<Remains>
}

interface Kept extends Removal {
  /** What was reported of it. */
  readonly text: string
}

// What others put into the directory of a pod may stay for good.
const PAUSES = { firstMs: 10_000, longestMs: 300_000 }

/** Directories of pods that are gone, which stay because of something in them that is not the agent's. */
export class PodRemains {
  readonly #deps: PodRemainsDeps
  /** By directory. */
  readonly #kept = new Map<string, Kept>()
  readonly #reported = new EventRepeats<string>(new Map())
  readonly #changed = new Wakeup()
  #reports = 0

  constructor(deps: PodRemainsDeps) {
    this.#deps = deps
  }

  /** Takes the outcome of a removal. What stays is reported when it is new or has changed, and now and then while it is there. */
  note({ directory, left }: Remains, removal: Removal): void {
    const { log, events, clock } = this.#deps
    const text = left.join(', ')
    if (text === '') return this.#forget(directory)
    const message = `Cannot remove "${directory}" of a pod that is gone, it holds what is not the kubelet's: ${text}`
    if (this.#reported.isDue(directory, text, clock.monotonic()))
      events.record({ type: 'Warning', reason: 'PodDirectoryKept', message })
    if (text === this.#kept.get(directory)?.text) return
    this.#kept.set(directory, { ...removal, text })
    this.#reports += 1
    this.#changed.wake()
    log.warn("the directory of a pod that is gone holds what is not the agent's, it stays", { directory, left })
  }

  /** Removes the directories when their owners have taken away what keeps them. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const pauses = new BackOff(PAUSES)
    for (;;) {
      const reports = this.#reports
      await this.#changed.wait({ clock, ms: this.#kept.size > 0 ? pauses.next() : undefined }, signal)
      if (this.#reports === reports) await this.#retry()
      // The owner of what is new may be about to take it away.
      else pauses.reset()
    }
  }

  #forget(directory: string): void {
    this.#kept.delete(directory)
    this.#reported.forget(directory)
  }

  async #retry(): Promise<void> {
    const { knows, log } = this.#deps
    for (const [directory, { uid, retry }] of this.#kept) {
      try {
        // A pod that is back needs its directory.
        if (knows(uid)) this.#forget(directory)
        else this.note(await retry(), { uid, retry })
      } catch (error) {
        log.warn('cannot remove what is left of a pod', { uid, error })
      }
    }
  }
}

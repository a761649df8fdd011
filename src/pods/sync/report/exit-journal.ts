import type { Clock } from '../../../base/async/clock.ts'
import { throwIfTransient } from '../../../base/async/transient-errors.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { isPodUid } from '../../../model/pod/pod.ts'
import type { PodUid } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { formatFinishedPod, parseFinishedPod } from './parse-finished-pod.ts'

/** The files of the journal, by name. What is written is on the disk when the promise resolves, whole or not at all. */
export interface JournalFiles {
  names(): Promise<readonly string[]>
  /** Undefined when there is no such file. */
  read(name: string): Promise<string | undefined>
  write(name: string, text: string): Promise<void>
  /** Succeeds when the file is gone already. */
  remove(name: string): Promise<void>
  /** Keeps a file that cannot be used under another name, for people to read. */
  setAside(name: string): Promise<void>
}

interface JournalDeps {
  readonly files: JournalFiles
  readonly log: Logger
}

const SUFFIX = '.json'
const RETRY_MS = 10_000

/**
 * How pods ended that are still desired: a finished pod never runs again, even when the agent was killed and the runtime has lost every
 * trace of it. One small file for each, so that a broken one is the loss of one pod. Without its disk the agent still knows what it saw.
 */
export class ExitJournal {
  readonly #deps: JournalDeps
  readonly #known = new Map<PodUid, PodStatus>()
  /** Those whose note is not on the disk. */
  readonly #unwritten = new Set<PodUid>()
  readonly #wakeup = new Wakeup()

  /** Reads what earlier agents wrote. What is broken never stops the agent; it fails for what can be read later, so that no pod runs again. */
  static async load(deps: JournalDeps): Promise<ExitJournal> {
    const journal = new ExitJournal(deps)
    try {
      for (const name of await deps.files.names()) if (name.endsWith(SUFFIX)) await journal.#load(name)
    } catch (error) {
      throwIfTransient(error)
      deps.log.error('cannot read which pods have finished', { error })
    }
    return journal
  }

  private constructor(deps: JournalDeps) {
    this.#deps = deps
  }

  uids(): readonly PodUid[] {
    return [...this.#known.keys()]
  }

  /** How the pod ended; undefined when it did not. */
  get(uid: PodUid): PodStatus | undefined {
    return this.#known.get(uid)
  }

  /** Remembers the end of a pod. */
  async record(uid: PodUid, status: PodStatus): Promise<void> {
    const text = formatFinishedPod(uid, status)
    const known = this.#known.get(uid)
    const isNoted = !this.#unwritten.has(uid)
    if (isNoted && known !== undefined && formatFinishedPod(uid, known) === text) return
    this.#known.set(uid, status)
    try {
      await this.#write(uid, text)
    } catch (error) {
      this.#unwritten.add(uid)
      this.#wakeup.wake()
      if (!isNoted) return
      const problem =
        'cannot note that a pod has finished, will try again; it may run again if the agent ends before that'
      this.#deps.log.error(problem, { uid, error })
    }
  }

  /** Writes what could not be written, for as long as that takes. */
  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#wakeup.wait({ clock, ms: undefined }, signal)
      while (this.#unwritten.size > 0) {
        await clock.sleep(RETRY_MS, signal)
        await this.#writeRest()
      }
    }
  }

  async #writeRest(): Promise<void> {
    for (const uid of this.#unwritten) {
      const status = this.#known.get(uid)
      try {
        if (status !== undefined) await this.#write(uid, formatFinishedPod(uid, status))
      } catch {
        // Reported already. What keeps this one from being written may be its own trouble.
      }
    }
  }

  async #write(uid: PodUid, text: string): Promise<void> {
    await this.#deps.files.write(`${uid}${SUFFIX}`, text)
    this.#unwritten.delete(uid)
  }

  /** The pod is gone: should one of its UID come again, it is a new one. */
  async forget(uid: PodUid): Promise<void> {
    this.#unwritten.delete(uid)
    if (!this.#known.delete(uid)) return
    try {
      await this.#deps.files.remove(`${uid}${SUFFIX}`)
    } catch (error) {
      this.#deps.log.error('cannot forget a finished pod, one of the same UID would not run', { uid, error })
    }
  }

  async #load(name: string): Promise<void> {
    const { files, log } = this.#deps
    const uid = name.slice(0, -SUFFIX.length)
    try {
      if (!isPodUid(uid)) throw new Error(`Cannot use "${name}": expected the UID of a pod as its name`)
      this.#known.set(uid, parseFinishedPod((await files.read(name)) ?? '', uid))
    } catch (error) {
      throwIfTransient(error)
      log.error('a note about a finished pod cannot be used, setting it aside', { name, error })
      await files
        .setAside(name)
        .catch((failure: unknown) => log.error('cannot set a note aside', { name, error: failure }))
    }
  }
}

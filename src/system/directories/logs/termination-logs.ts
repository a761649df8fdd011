import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { hasCode } from '../../files/error-codes.ts'
import { watchDirectory } from '../../files/watch-directory.ts'
import { cutFile } from './cut-file.ts'

export interface TerminationLogsDeps {
  readonly clock: Clock
  readonly log: Logger
}

/** A pod whose containers may write termination messages. */
interface MessagingPod {
  readonly containers: readonly Pick<ObservedContainer, 'state' | 'terminationLog'>[]
}

/** Where the termination logs of a container are. */
interface Folder {
  readonly path: string
  isRunning: boolean
  /** Undefined between a change and the check that follows it. */
  watch: Disposable | undefined
  /** What was emptied since the last measurement. */
  emptiedBytes: number
}

/** Many times what is read of a termination message. Larger ones fill the disk, and no limit of the kernel holds them. */
export const MOST_MESSAGE_BYTES = 1024 * 1024
// A container that writes all the time is checked this often, and all of them together take at most a fifth of the time.
const PAUSE_MS = 20
const PAUSE_SHARE = 4

/**
 * Keeps the termination logs of running containers small: they are files of the node that no limit counts. The kernel reports when one is written; then it is
 * measured, and emptied where it is too large. What was emptied counts as used when the disk is measured next.
 */
export class TerminationLogs implements Disposable {
  readonly #deps: TerminationLogsDeps
  readonly #pods = new Map<string, Map<string, Folder>>()
  readonly #changed = new Set<Folder>()
  readonly #wakeup = new Wakeup()

  constructor(deps: TerminationLogsDeps) {
    this.#deps = deps
  }

  /** Takes what the runtime has of a pod now; undefined: nothing. */
  observe(uid: string, pod: MessagingPod | undefined): void {
    const running = listMessageFolders(pod)
    const folders = this.#pods.get(uid) ?? new Map<string, Folder>()
    for (const folder of folders.values())
      if (folder.isRunning && running?.includes(folder.path) !== true) this.#setRunning(folder, false)
    if (running === undefined || (running.length === 0 && folders.size === 0)) {
      this.#pods.delete(uid)
      return
    }
    for (const path of running) {
      const folder = folders.getOrInsertComputed(path, () => ({
        path,
        isRunning: false,
        watch: undefined,
        emptiedBytes: 0,
      }))
      if (!folder.isRunning) this.#setRunning(folder, true)
    }
    this.#pods.set(uid, folders)
  }

  /** What was emptied in a folder of the pod since this was asked last. */
  takeEmptied(uid: string, path: string): number {
    const folder = this.#pods.get(uid)?.get(path)
    if (folder === undefined) return 0
    const { emptiedBytes } = folder
    folder.emptiedBytes = 0
    return emptiedBytes
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    for (;;) {
      await this.#wakeup.wait({ clock, ms: undefined }, signal)
      const startedAt = clock.monotonic()
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const folder of changed) await this.#check(folder)
      await clock.sleep(Math.max(PAUSE_MS, PAUSE_SHARE * (clock.monotonic() - startedAt)), signal)
    }
  }

  [Symbol.dispose](): void {
    for (const folders of this.#pods.values()) for (const folder of folders.values()) close(folder)
    this.#pods.clear()
  }

  /** At its beginning and its end it is checked without a report of the kernel. */
  #setRunning(folder: Folder, isRunning: boolean): void {
    folder.isRunning = isRunning
    this.#note(folder)
  }

  /** Not watched until it was checked: a container that writes all the time would keep the agent busy. */
  #note(folder: Folder): void {
    close(folder)
    this.#changed.add(folder)
    this.#wakeup.wake()
  }

  async #check(folder: Folder): Promise<void> {
    const { log } = this.#deps
    const { path } = folder
    try {
      // First: what is written from here on is reported.
      if (folder.isRunning)
        folder.watch = watchDirectory(path, {
          onChange: () => this.#note(folder),
          onFailure: () => close(folder),
        })
      for (const name of await readdir(path)) {
        const { bytes, isCut } = await cutFile(`${path}/${name}`, MOST_MESSAGE_BYTES)
        if (!isCut) continue
        if (folder.emptiedBytes === 0) log.warn('emptied a termination log that was too large', { path, bytes })
        folder.emptiedBytes += bytes
      }
    } catch (error) {
      // It is gone with its pod.
      if (hasCode(error, 'ENOENT')) return
      log.warn('cannot keep termination logs small, they are emptied when the disk is measured', { path, error })
    }
  }
}

/** Where the containers that run now write. */
function listMessageFolders(pod: MessagingPod | undefined): readonly string[] | undefined {
  const running = pod?.containers.filter(({ state, terminationLog }) => state === 'running' && terminationLog !== '')
  return running?.map(({ terminationLog }) => dirname(terminationLog))
}

function close(folder: Folder): void {
  folder.watch?.[Symbol.dispose]()
  folder.watch = undefined
}

import { dirname, join } from 'node:path'
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
  /** The files of containers that run now. Those of earlier instances lie beside them, and nothing writes to them any more. */
  running: ReadonlySet<string>
  /** Files that may have grown since they were checked. */
  readonly unchecked: Set<string>
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
    const running = listRunningFiles(pod)
    const folders = this.#pods.get(uid) ?? new Map<string, Folder>()
    for (const folder of folders.values()) this.#setRunning(folder, running?.get(folder.path) ?? NONE)
    if (running === undefined || (running.size === 0 && folders.size === 0)) {
      this.#pods.delete(uid)
      return
    }
    for (const [path, files] of running) {
      const create = () => ({ path, running: NONE, unchecked: new Set<string>(), watch: undefined, emptiedBytes: 0 })
      this.#setRunning(folders.getOrInsertComputed(path, create), files)
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

  /** At its beginning and its end a file is checked without a report of the kernel. */
  #setRunning(folder: Folder, running: ReadonlySet<string>): void {
    const changed = running.symmetricDifference(folder.running)
    folder.running = running
    for (const file of changed) this.#note(folder, file)
  }

  /** Not watched until it was checked: a container that writes all the time would keep the agent busy. */
  #note(folder: Folder, file: string): void {
    close(folder)
    folder.unchecked.add(file)
    this.#changed.add(folder)
    this.#wakeup.wake()
  }

  async #check(folder: Folder): Promise<void> {
    const { log } = this.#deps
    const { path } = folder
    try {
      // First: what is written from here on is reported.
      if (folder.running.size > 0) folder.watch = this.#watch(folder)
      const files = [...folder.unchecked]
      folder.unchecked.clear()
      for (const file of files) {
        const { bytes, isCut } = await cutFile(file, MOST_MESSAGE_BYTES)
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

  #watch(folder: Folder): Disposable {
    return watchDirectory(folder.path, {
      onChange: (name) => {
        for (const file of name === undefined ? folder.running : [join(folder.path, name)]) this.#note(folder, file)
      },
      onFailure: () => close(folder),
    })
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Where the containers that run now write, by folder. */
function listRunningFiles(pod: MessagingPod | undefined): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  const running = pod?.containers.filter(({ state, terminationLog }) => state === 'running' && terminationLog !== '')
  if (running === undefined) return undefined
  const byFolder = Map.groupBy(running, ({ terminationLog }) => dirname(terminationLog))
  return new Map([...byFolder].map(([path, files]) => [path, new Set(files.map((each) => each.terminationLog))]))
}

function close(folder: Folder): void {
  folder.watch?.[Symbol.dispose]()
  folder.watch = undefined
}

import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { sameAllocation } from '../../model/resources/same-resources.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { formatAllocations, parseAllocations } from './allocation-state-file.ts'
import type { Allocations } from './allocation-state-file.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'

/** Resources of pods that a later agent has to know: kept in memory, and on the disk soon after each change. */
export class SavedAllocations {
  readonly #file: StateFile
  readonly #log: Logger
  readonly #entries: Map<PodUid, PodAllocation>
  #text: string | undefined
  #isChanged = false
  #saving: Promise<void> | undefined

  private constructor(file: StateFile, log: Logger, loaded: Loaded) {
    this.#file = file
    this.#log = log
    this.#entries = new Map(loaded.entries)
    this.#text = loaded.text
  }

  /** A file that cannot be read is set aside: no workload is worth less than a file about it. */
  static async load(file: StateFile, log: Logger): Promise<SavedAllocations> {
    return new SavedAllocations(file, log, await load(file, log))
  }

  get(uid: PodUid): PodAllocation | undefined {
    return this.#entries.get(uid)
  }

  set(uid: PodUid, allocation: PodAllocation): void {
    const known = this.#entries.get(uid)
    if (known !== undefined && sameAllocation(known, allocation)) return
    this.#entries.set(uid, allocation)
    this.#isChanged = true
    this.#save()
  }

  /** Costs no write of its own: what is too much in the file does no harm, and goes with the next write. */
  forget(uid: PodUid): void {
    this.#entries.delete(uid)
  }

  uids(): readonly PodUid[] {
    return [...this.#entries.keys()]
  }

  /** Resolves when all that was set is on the disk, or could not be written, which is logged. */
  async saved(): Promise<void> {
    if (this.#isChanged) this.#save()
    await this.#saving
  }

  #save(): void {
    this.#saving ??= this.#write().finally(() => {
      this.#saving = undefined
    })
  }

  async #write(): Promise<void> {
    while (this.#isChanged) {
      // Pods come in sets: what is set together is written together.
      await Promise.resolve()
      this.#isChanged = false
      const text = formatAllocations(this.#entries)
      if (text === this.#text) continue
      try {
        await this.#file.write(text)
        this.#text = text
      } catch (error) {
        this.#log.error('cannot write the resources of pods, will try with the next change', {
          path: this.#file.path,
          error,
        })
        this.#isChanged = true
        return
      }
    }
  }
}

interface Loaded {
  readonly entries: Allocations
  readonly text: string | undefined
}

async function load(file: StateFile, log: Logger): Promise<Loaded> {
  try {
    const text = await file.read()
    return { entries: text === undefined ? new Map() : parseAllocations(text), text }
  } catch (error) {
    log.error('the resources that pods were granted cannot be read, they are taken from what runs and from the API', {
      ...(await setAsideBroken(file, error)),
      error,
    })
    return { entries: new Map(), text: undefined }
  }
}

import type { PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { claimKey } from './claim-record.ts'
import type { ClaimRecord } from './claim-record.ts'
import { formatDraState, parseDraState } from './dra-state-file.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'

export interface ClaimRecordsDeps {
  readonly file: StateFile
  readonly log: Logger
}

interface Loaded {
  readonly records: readonly ClaimRecord[]
  readonly text: string | undefined
  readonly wereLost: boolean
}

/** The claims that pods of this node use: in memory, and on the disk when the caller saves them. */
export class ClaimRecords {
  readonly #file: StateFile
  readonly #records: Map<string, ClaimRecord>
  /** The record of an earlier agent is gone: a running pod may have claims that are not recorded. */
  readonly wereLost: boolean
  #text: string | undefined
  #writing: Promise<void> = Promise.resolve()

  private constructor(file: StateFile, { records, text, wereLost }: Loaded) {
    this.#file = file
    this.#records = new Map(records.map((record) => [claimKey(record), record]))
    this.#text = text
    this.wereLost = wereLost
  }

  /** A file that cannot be read never stops the agent: it is set aside. */
  static async load(deps: ClaimRecordsDeps): Promise<ClaimRecords> {
    return new ClaimRecords(deps.file, await load(deps))
  }

  get(key: string): ClaimRecord | undefined {
    return this.#records.get(key)
  }

  all(): readonly ClaimRecord[] {
    return [...this.#records.values()]
  }

  of(podUid: PodUid): readonly ClaimRecord[] {
    return this.all().filter(({ podUids }) => podUids.has(podUid))
  }

  set(record: ClaimRecord): void {
    this.#records.set(claimKey(record), record)
  }

  delete(key: string): void {
    this.#records.delete(key)
  }

  /** Resolves when all that is known now is on the disk; fails when it cannot be written. */
  async save(): Promise<void> {
    const writing = this.#writing.catch(() => {}).then(() => this.#write())
    this.#writing = writing
    // The next save handles a failure that no caller waits for.
    writing.catch(() => {})
    await writing
  }

  async #write(): Promise<void> {
    const text = formatDraState(this.#records.values())
    if (text === this.#text) return
    this.#text = undefined
    await this.#file.write(text)
    this.#text = text
  }
}

async function load({ file, log }: ClaimRecordsDeps): Promise<Loaded> {
  try {
    const text = await file.read()
    return { records: text === undefined ? [] : parseDraState(text), text, wereLost: false }
  } catch (error) {
    log.error('the record of claims cannot be read, claims of pods that run are prepared again', {
      ...(await setAsideBroken(file, error)),
      error,
    })
    return { records: [], text: undefined, wereLost: true }
  }
}

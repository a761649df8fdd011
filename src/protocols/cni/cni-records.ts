import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { RecordFolder } from '../../system/files/state/create-record-folder.ts'
import { formatRecord, parseRecord, recordName } from './cni-record.ts'
import type { CniRecord } from './cni-record.ts'

/** The records of the pods that are attached to a network, by the id of their sandbox. Read once, then kept. */
export class CniRecords {
  readonly #folder: RecordFolder
  readonly #log: Logger
  readonly #records = new Map<string, CniRecord>()
  #loading: Promise<void> | undefined

  constructor(folder: RecordFolder, log: Logger) {
    this.#folder = folder
    this.#log = log
  }

  async find(containerId: string, device: string): Promise<CniRecord | undefined> {
    const record = (await this.#load()).get(containerId)
    return record?.attachment.device === device ? record : undefined
  }

  /** Those that an agent wrote for the Docker behind this socket. */
  async listOwn(owner: string): Promise<readonly CniRecord[]> {
    return [...(await this.#load()).values()].filter((record) => record.owner === owner)
  }

  async write(record: CniRecord): Promise<void> {
    const records = await this.#load()
    await this.#folder.write(recordName(record), formatRecord(record))
    records.set(record.attachment.containerId, record)
  }

  async remove(record: CniRecord): Promise<void> {
    const records = await this.#load()
    await this.#folder.remove(recordName(record))
    records.delete(record.attachment.containerId)
  }

  async #load(): Promise<Map<string, CniRecord>> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    })
    await this.#loading
    return this.#records
  }

  async #read(): Promise<void> {
    for (const name of await this.#folder.names()) {
      const record = await this.#readOne(name)
      if (record !== undefined) this.#records.set(record.attachment.containerId, record)
    }
  }

  /** One that cannot be used is as good as none: its pod gets another sandbox. It may be of another program, and stays where it is. */
  async #readOne(name: string): Promise<CniRecord | undefined> {
    try {
      const text = await this.#folder.read(name)
      const record = text === undefined ? undefined : parseRecord(text)
      if (text !== undefined && record === undefined) this.#log.debug('not a record of a CNI network', { name })
      return record
    } catch (error) {
      this.#log.warn('cannot read the record of a CNI network', { name, error: errorMessage(error) })
      return undefined
    }
  }
}

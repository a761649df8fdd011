import type { Logger } from '../../base/telemetry/logger.ts'
import type { RecordFolder } from '../../system/files/state/create-record-folder.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'

export interface MovingRecordsDeps {
  /** Where the records of new pods are kept. */
  readonly current: string
  /** Remembers every folder that has had records. */
  readonly file: StateFile
  readonly open: (path: string) => RecordFolder
  readonly log: Logger
}

/** The records of a folder together with those that agents with other settings kept elsewhere: their pods have to be detached too. */
export class MovingRecords implements RecordFolder {
  readonly #deps: MovingRecordsDeps
  readonly #current: RecordFolder
  #loading: Promise<ReadonlyMap<string, RecordFolder>> | undefined
  #remembering: Promise<void> | undefined

  constructor(deps: MovingRecordsDeps) {
    this.#deps = deps
    this.#current = deps.open(deps.current)
  }

  async names(): Promise<readonly string[]> {
    const names = new Set(await this.#current.names())
    for (const [path, folder] of await this.#earlier())
      for (const name of (await this.#namesOf(path, folder)) ?? []) names.add(name)
    return [...names]
  }

  async read(name: string): Promise<string | undefined> {
    const text = await this.#current.read(name)
    if (text !== undefined) return text
    for (const folder of (await this.#earlier()).values()) {
      const found = await folder.read(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The folder is remembered before anything is in it. */
  async write(name: string, text: string): Promise<void> {
    this.#remembering ??= this.#remember().catch((error: unknown) => {
      this.#remembering = undefined
      throw error
    })
    await this.#remembering
    await this.#current.write(name, text)
  }

  async remove(name: string): Promise<void> {
    await this.#current.remove(name)
    for (const folder of (await this.#earlier()).values())
      if ((await folder.read(name)) !== undefined) await folder.remove(name)
  }

  /** Folders that are empty by now are forgotten. */
  async #remember(): Promise<void> {
    const { current, file } = this.#deps
    const paths = [current]
    for (const [path, folder] of await this.#earlier())
      if ((await this.#namesOf(path, folder))?.length !== 0) paths.push(path)
    const text = JSON.stringify(paths)
    if ((await file.read()) !== text) await file.write(text)
  }

  /** Undefined when the folder cannot be read: it is none of the current settings, and keeps no pod from starting. */
  async #namesOf(path: string, folder: RecordFolder): Promise<readonly string[] | undefined> {
    try {
      return await folder.names()
    } catch (error) {
      this.#deps.log.warn('cannot read an earlier folder of CNI records', { path, error })
      return undefined
    }
  }

  async #earlier(): Promise<ReadonlyMap<string, RecordFolder>> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    })
    return await this.#loading
  }

  async #load(): Promise<ReadonlyMap<string, RecordFolder>> {
    const { current, open } = this.#deps
    const paths = await this.#readPaths()
    return new Map(paths.filter((path) => path !== current).map((path) => [path, open(path)]))
  }

  async #readPaths(): Promise<readonly string[]> {
    const { file, log } = this.#deps
    try {
      return parsePaths((await file.read()) ?? '[]')
    } catch (error) {
      log.warn('cannot use the list of CNI cache folders', { ...(await setAsideBroken(file, error)), error })
      return []
    }
  }
}

function parsePaths(text: string): readonly string[] {
  const value: unknown = JSON.parse(text)
  const isPath = (each: unknown): each is string => typeof each === 'string' && each.startsWith('/')
  if (!Array.isArray(value) || !value.every(isPath)) throw new Error(`Cannot use "${text}": expected a list of paths`)
  return value
}

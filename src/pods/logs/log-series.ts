import type { LogDirectory } from '../../system/directories/logs/log-directory.ts'
import type { LogFile } from '../../system/directories/logs/open-log-file.ts'
import { COMPRESSED_SUFFIX, isRotatedName, TEMPORARY_SUFFIX } from './compute-log-rotation.ts'

/** One file of a log that is held open. */
export interface SeriesFile {
  /** Its place among all files of the log, the oldest first. */
  readonly number: number
  readonly file: LogFile
  readonly compressed: boolean
}

// Rotations are seconds apart, so the second listing nearly always agrees with the first.
const MOST_CHECKS = 10

/**
 * All files of one container's log in the order in which they were written: the rotated ones, and then the current one. A file keeps its number
 * when it is rotated or compressed.
 */
export class LogSeries {
  readonly #directory: LogDirectory
  readonly #name: string
  /** The rotated files, without the suffix of compressed ones; also those that are gone since. */
  readonly #rotated: string[] = []
  #isListed = false

  constructor(directory: LogDirectory, name: string) {
    this.#directory = directory
    this.#name = name
  }

  /** Something happened to a file. A slow reader learns from this the order of files that come and go meanwhile. */
  note(name: string): void {
    // Before the first listing, what is reported may be younger than what is there.
    if (this.#isListed) this.#add(name)
  }

  /** The file that is written now; undefined when there is no log at all. */
  async openLast(): Promise<SeriesFile | undefined> {
    for (let check = 0; check < MOST_CHECKS; check += 1) {
      const file = await this.#directory.open(this.#name)
      await this.#refresh()
      // Only what kept its name while we listed is newer than all that we saw.
      const identity = await this.#directory.identity(this.#name)
      if (file !== undefined && file.identity === identity)
        return { number: this.#rotated.length, file, compressed: false }
      await file?.[Symbol.asyncDispose]()
      // Between a rotation and the runtime's reopening there is no current file.
      if (file === undefined && identity === undefined) return await this.#openNewestRotated()
    }
    throw new Error(`Cannot read the log "${this.#name}": it is rotated all the time`)
  }

  /** An older file; undefined when it was removed. */
  async openRotated(number: number): Promise<SeriesFile | undefined> {
    const name = this.#rotated[number]
    if (name === undefined) return undefined
    // Compressing puts the one in place before it takes the other away, so one of them is there.
    const plain = await this.#directory.open(name)
    if (plain !== undefined) return { number, file: plain, compressed: false }
    const compressed = await this.#directory.open(`${name}${COMPRESSED_SUFFIX}`)
    return compressed && { number, file: compressed, compressed: true }
  }

  /** True when the runtime writes to another file by now. */
  async isComplete({ number, file }: SeriesFile): Promise<boolean> {
    const current = await this.#directory.identity(this.#name)
    if (current === file.identity) {
      // A rotation that failed gives the file its name back.
      this.#rotated.length = Math.min(this.#rotated.length, number)
      return false
    }
    await this.#refresh()
    return current !== undefined || this.#rotated.length > number + 1
  }

  /** The file after one that is over; undefined when it is gone again. */
  async openNext({ number, file }: SeriesFile): Promise<SeriesFile | undefined> {
    for (let check = 0; check < MOST_CHECKS; check += 1) {
      const current = await this.#directory.identity(this.#name)
      await this.#refresh()
      const rotated = await this.#openRotatedAfter(number, file)
      if (rotated !== undefined || current === undefined) return rotated
      const opened = await this.#directory.open(this.#name)
      if (opened?.identity === current) return { number: this.#rotated.length, file: opened, compressed: false }
      await opened?.[Symbol.asyncDispose]()
    }
    return undefined
  }

  async #openNewestRotated(): Promise<SeriesFile | undefined> {
    for (let number = this.#rotated.length - 1; number >= 0; number -= 1) {
      const file = await this.openRotated(number)
      if (file !== undefined) return file
    }
    return undefined
  }

  async #openRotatedAfter(number: number, { identity }: LogFile): Promise<SeriesFile | undefined> {
    for (let later = number + 1; later < this.#rotated.length; later += 1) {
      const found = await this.openRotated(later)
      if (found !== undefined && found.file.identity !== identity) return found
      await found?.file[Symbol.asyncDispose]()
    }
    return undefined
  }

  /** Names carry the time of their rotation, so their order is that of the files. */
  async #refresh(): Promise<void> {
    const names = await this.#directory.names()
    for (const name of [...names].sort()) this.#add(name)
    this.#isListed = true
  }

  #add(name: string): void {
    const plain = this.#toPlain(name)
    if (plain !== undefined && !this.#rotated.includes(plain)) this.#rotated.push(plain)
  }

  #toPlain(name: string): string | undefined {
    if (name.endsWith(TEMPORARY_SUFFIX) || !isRotatedName(this.#name, name)) return undefined
    return name.endsWith(COMPRESSED_SUFFIX) ? name.slice(0, -COMPRESSED_SUFFIX.length) : name
  }
}

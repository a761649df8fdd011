import type { Clock } from '../../../base/async/clock.ts'

/** How files are read; hostConfigFiles of src/system is one. */
export interface FileReader {
  readFile(path: string, maxBytes: number): Promise<Uint8Array>
}

const CHECK_EVERY_MS = 60_000
// A certificate with its chain and key has some kilobytes.
const MAX_BYTES = 1024 * 1024

/** The text of a file, read again once a minute: files with credentials are replaced. */
export class KeptFile {
  readonly #files: FileReader
  readonly #path: string
  readonly #clock: Clock
  #reading: Promise<string> | undefined
  #readAt = -Infinity

  constructor(files: FileReader, path: string, clock: Clock) {
    this.#files = files
    this.#path = path
    this.#clock = clock
  }

  /** The next one who asks gets what is in the file then. */
  forget(): void {
    this.#readAt = -Infinity
  }

  /** What cannot be read now is what it was before, if it ever was. */
  async text(): Promise<string> {
    const now = this.#clock.monotonic()
    const before = this.#reading
    if (before !== undefined && now - this.#readAt < CHECK_EVERY_MS) return await before
    this.#readAt = now
    this.#reading = this.#read().catch((error: unknown) => {
      if (before !== undefined) return before
      this.#reading = undefined
      throw error
    })
    return await this.#reading
  }

  async #read(): Promise<string> {
    return Buffer.from(await this.#files.readFile(this.#path, MAX_BYTES)).toString('utf8')
  }
}

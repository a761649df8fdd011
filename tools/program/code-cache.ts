import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

interface Fresh {
  readonly text: string
  readonly script: Script
  written: number
}

const SUM_BYTES = 8

/** The code that V8 made of the files of a program while they ran, kept in a folder for the next start. */
export class CodeCache {
  readonly #folder: string
  readonly #fresh = new Map<string, Fresh>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** V8 believes what it is given: so it is given nothing that a power cut may have left half written, or that was made of another text. */
  read(name: string, text: string): Buffer | undefined {
    let file: Buffer
    try {
      file = readFileSync(this.#pathOf(name))
    } catch {
      return undefined
    }
    if (file.length <= SUM_BYTES) return undefined
    const code = file.subarray(SUM_BYTES)
    return file.readUInt32LE(0) === crc32(text) && file.readUInt32LE(4) === crc32(code) ? code : undefined
  }

  /** Its code is to be written. */
  add(name: string, text: string, script: Script): void {
    this.#fresh.set(name, { text, script, written: 0 })
  }

  /** Writes what V8 has by now of the files that were added. */
  write(): void {
    for (const [name, fresh] of this.#fresh) this.#writeCode(this.#pathOf(name), fresh)
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}.code`)
  }

  #writeCode(path: string, fresh: Fresh): void {
    const code = fresh.script.createCachedData()
    // With what ran since the last time; but V8 also throws away what was not called for a while.
    if (code.length <= fresh.written) return
    const sums = Buffer.alloc(SUM_BYTES)
    sums.writeUInt32LE(crc32(fresh.text), 0)
    sums.writeUInt32LE(crc32(code), 4)
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const temporary = `${path}.${process.pid}`
      writeFileSync(temporary, Buffer.concat([sums, code]), { mode: 0o600 })
      renameSync(temporary, path)
      fresh.written = code.length
    } catch {
      // A folder that cannot be written to: the next start compiles again.
    }
  }
}

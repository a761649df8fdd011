import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** What a file of the cache has. */
interface KeptCode {
  readonly code: Buffer
  /** Written by a program that had come to what it is for; one that only said its version has called next to nothing. */
  readonly isWhole: boolean
}

interface Fresh {
  readonly text: string
  readonly script: Script
  /** There is code in the cache that it began with. */
  readonly isKept: boolean
  written: number
}

// Two sums and whether it is whole. V8 wants what follows at a multiple of 8.
const HEAD_BYTES = 16
const WHOLE_AT = 8

/** The code that V8 made of the files of a program while they ran, kept in a folder for the next start. */
export class CodeCache {
  readonly #folder: string
  readonly #fresh = new Map<string, Fresh>()
  #isWhole = false

  constructor(folder: string) {
    this.#folder = folder
  }

  /** V8 believes what it is given: so it is given nothing that a power cut may have left half written, or that was made of another text. */
  read(name: string, text: string): KeptCode | undefined {
    let file: Buffer
    try {
      file = readFileSync(this.#pathOf(name))
    } catch {
      return undefined
    }
    if (file.length <= HEAD_BYTES) return undefined
    const code = file.subarray(HEAD_BYTES)
    const isRight = file.readUInt32LE(0) === crc32(text) && file.readUInt32LE(4) === crc32(code)
    return isRight ? { code, isWhole: file.readUInt32LE(WHOLE_AT) === 1 } : undefined
  }

  /** Its code is to be written; where some is kept, only once the program has come to what it is for. */
  add(name: string, fresh: Pick<Fresh, 'text' | 'script' | 'isKept'>): void {
    this.#fresh.set(name, { ...fresh, written: 0 })
  }

  /** Writes what V8 has by now of the files that were added: the program has come to what it is for. */
  writeWhole(): void {
    this.#isWhole = true
    this.write()
  }

  /** The same when it ends, perhaps before that. */
  write(): void {
    for (const [name, fresh] of this.#fresh)
      if (this.#isWhole || !fresh.isKept) this.#writeCode(this.#pathOf(name), fresh)
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}.code`)
  }

  #writeCode(path: string, fresh: Fresh): void {
    const code = fresh.script.createCachedData()
    // With what ran since the last time; but V8 also throws away what was not called for a while.
    if (code.length <= fresh.written) return
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32LE(crc32(fresh.text), 0)
    head.writeUInt32LE(crc32(code), 4)
    head.writeUInt32LE(this.#isWhole ? 1 : 0, WHOLE_AT)
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const temporary = `${path}.${process.pid}`
      writeFileSync(temporary, Buffer.concat([head, code]), { mode: 0o600 })
      renameSync(temporary, path)
      fresh.written = code.length
    } catch {
      // A folder that cannot be written to: the next start compiles again.
    }
  }
}

import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'

/** A file without its types, and which state of the file that was. */
interface Stripped {
  readonly mtimeMs: number
  readonly size: number
  readonly text: () => string
}

/** What the pack says about a file; its text has so many bytes. */
type IndexEntry = readonly [path: string, mtimeMs: number, size: number, bytes: number, isAscii: boolean]

interface Index {
  readonly node: string
  readonly folder: string
  readonly files: readonly IndexEntry[]
}

export interface StrippedSourcesOptions {
  /** Where the sources are. */
  readonly folder: string
  /** The pack. */
  readonly file: string
  readonly strip: (text: string, path: string) => string
}

const OTHERS_MAY_WRITE = 0o022

/**
 * TypeScript files without their types. What was stripped before is kept in one file, the pack: a line with the index, then the texts. An entry counts
 * while its source has the same time and size. The pack is used where that is possible and safe; without it everything is stripped at each start.
 */
export class StrippedSources {
  readonly #options: StrippedSourcesOptions
  readonly #stripped: Map<string, Stripped>
  #isPacked = true

  constructor(options: StrippedSourcesOptions) {
    this.#options = options
    this.#stripped = readPack(options)
  }

  /** The text of a file below the folder, without types. */
  read(path: string): string {
    const { folder, strip } = this.#options
    const file = `${folder}/${path}`
    // Before the file is read: a change in between makes the entry stale, not wrong.
    const { mtimeMs, size } = statSync(file)
    const known = this.#stripped.get(path)
    if (known !== undefined && isSame(known, { mtimeMs, size })) return known.text()
    const text = strip(readFileSync(file, 'utf8'), path)
    this.#stripped.set(path, { mtimeMs, size, text: () => text })
    this.#isPacked = false
    return text
  }

  /** Writes the pack again when something was stripped since, without what no longer counts. Never throws. */
  write(): void {
    if (this.#isPacked) return
    this.#isPacked = true
    const { folder } = this.#options
    const current = this.#stripped.entries().filter(([path, stripped]) => {
      const state = statSync(`${folder}/${path}`, { throwIfNoEntry: false })
      return state !== undefined && isSame(stripped, state)
    })
    try {
      writePack(this.#options, current)
    } catch {
      // The checkout is read-only, or another user's: every start strips what the first one did.
    }
  }
}

type FileState = Pick<Stripped, 'mtimeMs' | 'size'>

function isSame(one: FileState, other: FileState): boolean {
  return one.mtimeMs === other.mtimeMs && one.size === other.size
}

function readPack({ file, folder }: StrippedSourcesOptions): Map<string, Stripped> {
  try {
    const descriptor = openSync(file, 'r')
    try {
      return isTrusted(descriptor, folder) ? parsePack(readFileSync(descriptor, 'latin1'), folder) : new Map()
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // There is none, or what is there is no pack: it is replaced.
    return new Map()
  }
}

/** Whether only users who can change the sources can write the pack. */
function isTrusted(descriptor: number, folder: string): boolean {
  const { uid, mode } = fstatSync(descriptor)
  return [0, process.getuid?.(), statSync(folder).uid].includes(uid) && (mode & OTHERS_MAY_WRITE) === 0
}

/** Takes a character for a byte: parts of one long text cost nothing, and few files have others than ASCII. */
function parsePack(pack: string, folder: string): Map<string, Stripped> {
  let offset = pack.indexOf('\n') + 1
  const index = JSON.parse(pack.slice(0, offset)) as Index
  const stripped = new Map<string, Stripped>()
  for (const [path, mtimeMs, size, bytes, isAscii] of index.files) {
    const start = offset
    const part = () => pack.slice(start, start + bytes)
    const text = isAscii ? part : () => Buffer.from(part(), 'latin1').toString()
    stripped.set(path, { mtimeMs, size, text })
    offset += bytes
  }
  // Nothing counts in a pack that is cut off, of a Node that may strip in another way, or of a checkout that was moved: texts name their file.
  const counts = index.node === process.version && index.folder === folder && offset === pack.length
  return counts ? stripped : new Map()
}

function writePack({ file, folder }: StrippedSourcesOptions, files: Iterable<readonly [path: string, Stripped]>): void {
  const texts: Buffer[] = []
  const entries: IndexEntry[] = []
  for (const [path, { mtimeMs, size, text }] of files) {
    const characters = text()
    const bytes = Buffer.from(characters)
    texts.push(bytes)
    entries.push([path, mtimeMs, size, bytes.length, bytes.length === characters.length])
  }
  const index: Index = { node: process.version, folder, files: entries }
  const pack = Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...texts])
  const temporary = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  try {
    writeFileSync(temporary, pack, { flag: 'wx', mode: 0o644, flush: true })
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'
import { createTar } from '../tar.ts'
import { INDEX_FILES, readArchivedNames, renameImage } from './image-index.ts'
import type { IndexFile } from './image-index.ts'
import { paddedSize, parseTarHeader, TAR_BLOCK } from './tar-headers.ts'

// Those of real images have a few kilobytes.
const LARGEST_INDEX_BYTES = 4 * 1024 * 1024
const END_MARK_BYTES = 2 * TAR_BLOCK

/**
 * Passes an image archive on, and reads on the way which images are in it. With a name it gives that to the only image. An archive that is none, or has
 * an image without a name, ends it with an error before the last bytes, so that whatever reads it never sees a whole archive.
 */
export class ArchiveReader extends Transform {
  readonly #name: string | undefined
  readonly #names = new Map<IndexFile, readonly (string | undefined)[]>()
  /** What was not passed on yet. */
  #held: Buffer = Buffer.alloc(0)
  /** Bytes of the entry that are to be passed on unread. */
  #passing = 0
  #entries = 0

  constructor(name?: string) {
    super()
    this.#name = name
  }

  /** The names of the images; complete at the end. */
  get names(): readonly string[] {
    return this.#all.filter((name) => name !== undefined)
  }

  /** Where there are both files, readers of OCI layouts take theirs. */
  get #all(): readonly (string | undefined)[] {
    return this.#names.get('index.json') ?? this.#names.get('manifest.json') ?? []
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    try {
      while (this.#step());
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  override _flush(done: TransformCallback): void {
    try {
      this.#checkEnd()
      this.push(Buffer.alloc(END_MARK_BYTES))
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  /** False when it takes more bytes to go on. */
  #step(): boolean {
    if (this.#passing > 0) return this.#pass()
    if (this.#held.length < TAR_BLOCK) return false
    const header = parseTarHeader(this.#held.subarray(0, TAR_BLOCK))
    // The end mark is made again at the end, once all is known to be well.
    if (header === undefined) {
      this.#held = this.#held.subarray(TAR_BLOCK)
      return true
    }
    this.#entries += 1
    const whole = TAR_BLOCK + paddedSize(header.sizeBytes)
    const file = INDEX_FILES.find((name) => header.isFile && header.path === name)
    if (file === undefined) {
      this.#passing = whole
      return true
    }
    if (header.sizeBytes > LARGEST_INDEX_BYTES)
      throw new Error(`its ${file} has ${header.sizeBytes} bytes, expected at most ${LARGEST_INDEX_BYTES}`)
    if (this.#held.length < whole) return false
    this.#readIndex(file, this.#held.toString('utf8', TAR_BLOCK, TAR_BLOCK + header.sizeBytes))
    this.#held = this.#held.subarray(whole)
    return true
  }

  #pass(): boolean {
    if (this.#held.length === 0) return false
    const part = this.#held.subarray(0, this.#passing)
    this.push(part)
    this.#passing -= part.length
    this.#held = this.#held.subarray(part.length)
    return true
  }

  #readIndex(file: IndexFile, text: string): void {
    const named = this.#name === undefined ? text : renameImage(file, text, this.#name)
    this.#names.set(file, readArchivedNames(file, named))
    const archive = createTar([{ kind: 'file', path: file, content: Buffer.from(named), mode: 0o644 }])
    this.push(archive.subarray(0, archive.length - END_MARK_BYTES))
  }

  #checkEnd(): void {
    if (this.#entries === 0) throw new Error(this.#held.length === 0 ? 'it is empty' : 'it is not a tar archive')
    if (this.#passing > 0 || this.#held.length > 0) throw new Error('it is cut off')
    if (this.#names.size === 0)
      throw new Error(
        'it has neither index.json nor manifest.json; expected a tar of "docker save" or of an OCI image layout',
      )
    if (this.#all.includes(undefined)) throw new Error('it has an image without a name; give it one with --name')
    if (this.names.length === 0) throw new Error('it has no image')
  }
}

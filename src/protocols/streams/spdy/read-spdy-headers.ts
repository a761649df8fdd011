import { createInflate } from 'node:zlib'
import { SpdyError } from './spdy-decoder.ts'
import { SPDY_DICTIONARY } from './spdy-dictionary.ts'

// A few words each; what is longer once it is unpacked is an attack.
const LONGEST_HEADERS = 64 * 1024

/** Reads the headers of the frames of one connection, which are one compressed stream. */
export class SpdyHeaderReader implements Disposable {
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY })

  constructor() {
    // What is not compressed as it should be fails the write below.
    this.#inflate.on('error', () => {})
  }

  async read(block: Buffer): Promise<Readonly<Record<string, string>>> {
    await new Promise<void>((resolve, reject) => {
      this.#inflate.once('error', reject)
      this.#inflate.write(block, (error) => {
        this.#inflate.off('error', reject)
        if (error) reject(error)
        else resolve()
      })
    }).catch((error: unknown) => {
      throw new SpdyError('Cannot read the headers of a stream', { cause: error })
    })
    const bytes = this.#inflate.read() as Buffer | null
    if (bytes === null || bytes.length > LONGEST_HEADERS) throw new SpdyError('Cannot read the headers of a stream')
    try {
      return parse(bytes)
    } catch (error) {
      throw new SpdyError('Cannot read the headers of a stream', { cause: error })
    }
  }

  [Symbol.dispose](): void {
    this.#inflate.destroy()
  }
}

function parse(bytes: Buffer): Readonly<Record<string, string>> {
  let at = 4
  const take = () => {
    const end = at + 4 + bytes.readUInt32BE(at)
    const text = bytes.toString('utf8', at + 4, end)
    at = end
    return text
  }
  return Object.fromEntries(Array.from({ length: bytes.readUInt32BE() }, () => [take().toLowerCase(), take()]))
}

import { createInflate } from 'node:zlib'
import { SpdyError } from './spdy-decoder.ts'

// The dictionary of SPDY/3: words with their lengths, and a tail without.
const WORDS =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization ' +
  'cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range ' +
  'content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified ' +
  'location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding ' +
  'upgrade user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin'
const TAIL =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information204 No ' +
  'Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not ' +
  'Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, ' +
  'GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,public' +
  'privatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

/** What both sides of SPDY/3 know before they compress headers. */
export const SPDY_DICTIONARY = Buffer.concat([
  ...WORDS.split(' ').flatMap((word) => [Buffer.from([0, 0, 0, word.length]), Buffer.from(word.replace('_', ' '))]),
  Buffer.from(TAIL),
])

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

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { LogFile } from '../../system/directories/logs/open-log-file.ts'
import type { SeriesFile } from './log-series.ts'

const CHUNK_BYTES = 64 * 1024

/** Which bytes of a file, as it is before any compression. */
export interface ByteRange {
  readonly from: number
  /** Not included. */
  readonly to: number
}

/** The bytes of a log, a few at a time. Each chunk is valid until the next is asked for. */
export async function* readLogFile({ file, compressed }: SeriesFile, range: ByteRange): AsyncGenerator<Buffer, void> {
  if (!compressed) return yield* readPlain(file, range)
  const packed = Readable.from(readPlain(file, { from: 0, to: Infinity }, copyOf), { objectMode: false })
  // What goes wrong with either is reported by the one that is read.
  const unpacked = pipeline(packed, createGunzip(), () => {})
  let at = 0
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    const wanted = chunk.subarray(Math.max(0, range.from - at), Math.max(0, range.to - at))
    at += chunk.length
    if (wanted.length > 0) yield wanted
    if (at >= range.to) return
  }
}

async function* readPlain(
  file: LogFile,
  { from, to }: ByteRange,
  own: (bytes: Buffer) => Buffer = (bytes) => bytes,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let at = from; at < to;) {
    const count = await file.read(buffer.subarray(0, Math.min(CHUNK_BYTES, to - at)), at)
    if (count === 0) return
    at += count
    yield own(buffer.subarray(0, count))
  }
}

/** A stream keeps some chunks for later, so each needs its own memory. */
function copyOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes)
}

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { LogFile } from '../../system/directories/logs/open-log-file.ts'
import type { SeriesFile } from './log-series.ts'

const CHUNK_BYTES = 64 * 1024
// No more files are read at the same time. A new buffer for each line that is followed would be most of the agent's garbage.
const MOST_SPARE = 4
const spare: Buffer[] = []
/** Of files that are followed, by file and position. */
const readings = new Map<string, Promise<Buffer>>()

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

/**
 * The bytes that came to a file which grows, as above. One reading is enough when it does not fill a chunk: a follower is woken again. Those
 * of one file are woken together, and share what one of them reads.
 */
export async function* readNewBytes(series: SeriesFile, from: number): AsyncGenerator<Buffer, void> {
  if (series.compressed) return yield* readLogFile(series, { from, to: Infinity })
  for (let at = from; ;) {
    const bytes = await readShared(series.file, at)
    if (bytes.length > 0) yield bytes
    if (bytes.length < CHUNK_BYTES) return
    at += bytes.length
  }
}

function readShared(file: LogFile, position: number): Promise<Buffer> {
  const key = `${file.identity} ${position}`
  const underWay = readings.get(key)
  if (underWay !== undefined) return underWay
  const reading = readOnce(file, position).finally(() => readings.delete(key))
  readings.set(key, reading)
  return reading
}

async function readOnce(file: LogFile, position: number): Promise<Buffer> {
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    const count = await file.read(buffer, position)
    return Buffer.from(buffer.subarray(0, count))
  } finally {
    if (spare.length < MOST_SPARE) spare.push(buffer)
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

import { PassThrough } from 'node:stream'
import type { Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import type { Clock } from '../../../base/async/clock.ts'
import { openSource } from '../../../system/files/file-streams.ts'
import { streamProcess } from '../../../system/processes/stream-process.ts'

/** An archive as it comes in, compressed or not. */
export interface OpenArchive {
  readonly stream: Readable
  /** Undefined for what comes from a pipe or a folder. */
  readonly sizeBytes: number | undefined
}

const DEADLINE_MS = 24 * 3_600_000

/** Opens a file, or a folder with an OCI image layout. */
export async function openArchive(clock: Clock, path: string, signal: AbortSignal): Promise<OpenArchive> {
  const source = await openSource(path)
  if (source !== undefined) return source
  const stream = new PassThrough()
  const argv = ['tar', '--create', '--directory', path, '.']
  streamProcess(clock, { argv, deadlineMs: DEADLINE_MS, sink: stream }, signal).then(
    ({ exitCode, stderr }) => (exitCode === 0 ? stream.end() : stream.destroy(new Error(stderr.trim()))),
    (error: Error) => stream.destroy(error),
  )
  return { stream, sizeBytes: undefined }
}

const GZIP = Buffer.from([0x1f, 0x8b])
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** What its first bytes say that it is compressed with. */
export function createDecompressor(first: Buffer) {
  if (first.subarray(0, GZIP.length).equals(GZIP)) return createGunzip()
  if (first.subarray(0, ZSTD.length).equals(ZSTD)) return createZstdDecompress()
  return new PassThrough()
}

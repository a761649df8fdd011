import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { exitCodes, NodeError } from '../../node/node-error.ts'
import { ArchiveReader } from './archive-reader.ts'
import { countBytes } from './count-bytes.ts'
import type { ImageArchives } from './image-archives.ts'
import { createDecompressor } from './open-archive.ts'
import type { OpenArchive } from './open-archive.ts'

export interface LoadRequest extends OpenArchive {
  /** For the user: a path, or "standard input". */
  readonly what: string
  /** For an archive of one image, in place of its own name. */
  readonly name: string | undefined
  readonly onProgress: (doneBytes: number, totalBytes: number | undefined) => void
}

/** Gives a runtime the images of an archive, and says which they are. */
export async function loadArchive(
  archives: ImageArchives,
  request: LoadRequest,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const reader = new ArchiveReader(request.name)
  const first = await readFirst(request.stream)
  const counter = countBytes((doneBytes) => request.onProgress(doneBytes, request.sizeBytes))
  const end = new AbortController()
  const until = AbortSignal.any([signal, end.signal])
  // An archive that is none is our error, what the runtime says about the half that it got is not.
  const read = pipeline(request.stream, counter, createDecompressor(first), reader, { signal: until }).catch(
    (error: unknown) => {
      if (!isPremature(error)) end.abort(error)
      throw error
    },
  )
  const loaded = archives.load(reader, until)
  const [reading, loading] = await Promise.allSettled([read, loaded])
  signal.throwIfAborted()
  // The runtime stopped reading: then its own word counts.
  const isStopped = reading.status === 'rejected' && isPremature(reading.reason)
  const failure = (isStopped ? [loading, reading] : [reading, loading]).find(({ status }) => status === 'rejected')
  if (failure?.status !== 'rejected') return reader.names
  const why = errorMessage(failure.reason)
  throw new NodeError(`Cannot load images from ${request.what}: ${why}`, exitCodes.failed, { cause: failure.reason })
}

function isPremature(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE'
}

/** The first bytes, which stay in the stream. */
async function readFirst(stream: Readable): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.once('end', () => resolve(Buffer.alloc(0)))
    stream.once('readable', () => {
      const chunk = stream.read() as Buffer | null
      if (chunk !== null) stream.unshift(chunk)
      stream.removeListener('error', reject)
      resolve(chunk ?? Buffer.alloc(0))
    })
  })
}

import { writeFromStream } from '../../../system/files/file-streams.ts'
import { countBytes } from './count-bytes.ts'
import type { ImageArchives } from './image-archives.ts'

export interface SaveRequest {
  readonly names: readonly string[]
  readonly file: string
  readonly onProgress: (doneBytes: number) => void
}

/** Writes images of a runtime to a file, which is there as a whole or not at all. */
export async function saveToFile(
  archives: Pick<ImageArchives, 'save'>,
  { names, file, onProgress }: SaveRequest,
  signal: AbortSignal,
): Promise<void> {
  const pipe = countBytes(onProgress)
  // The runtime may fail while the file is still being opened; its error is thrown below.
  pipe.on('error', () => undefined)
  const saved = archives.save(names, pipe, signal).then(
    () => void pipe.end(),
    (error: Error) => {
      // Without this the file would end as if it were whole.
      pipe.destroy(error)
      throw error
    },
  )
  const [outcome, written] = await Promise.allSettled([saved, writeFromStream(file, pipe, signal)])
  for (const settled of [outcome, written]) if (settled.status === 'rejected') throw settled.reason
}

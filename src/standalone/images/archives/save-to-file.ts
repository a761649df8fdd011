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
  let failure: Error | undefined
  // Either side ends the other: the file must not end as if it were whole, and a runtime must not wait for a file that is not there.
  const fail = (error: Error) => {
    failure ??= error
    pipe.destroy(error)
  }
  // The file may still be being opened; the failure is thrown below.
  pipe.on('error', () => undefined)
  await Promise.all([
    archives.save(names, pipe, signal).then(() => void pipe.end(), fail),
    writeFromStream(file, pipe, signal).catch(fail),
  ])
  if (failure !== undefined) throw failure
}

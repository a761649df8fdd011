import type { FoundData } from '../../../system/directories/csi-files.ts'
import type { CsiVolumeDeps } from './csi-volume-deps.ts'
import { parseVolumeData } from './volume-data.ts'
import type { VolumeData } from './volume-data.ts'

type ReadDeps = Pick<CsiVolumeDeps, 'csiFiles' | 'log'>

/** What the note in a directory says of a volume; undefined when there is none, or none that makes sense. */
export async function readVolumeData(deps: ReadDeps, directory: string): Promise<VolumeData | undefined> {
  const text = await deps.csiFiles.readData(directory)
  return text === undefined ? undefined : await takeVolumeData(deps, { directory, text })
}

/** The same for a note that was read. One that makes no sense is set aside: the driver of its volume is not known any more. */
export async function takeVolumeData(
  { csiFiles, log }: ReadDeps,
  { directory, text }: FoundData,
): Promise<VolumeData | undefined> {
  const data = parseVolumeData(text)
  if (data !== undefined) return data
  log.error('the note of a CSI volume makes no sense, setting it aside', { directory })
  await csiFiles
    .setAsideData(directory)
    .catch((error: unknown) => log.error('cannot set the note of a CSI volume aside', { directory, error }))
  return undefined
}

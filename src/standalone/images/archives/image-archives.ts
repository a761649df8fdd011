import type { Readable, Writable } from 'node:stream'

/** What a runtime can do with images that CRI has no calls for. */
export interface ImageArchives {
  /** Takes the images of an archive; all of them or none. */
  load(archive: Readable, signal: AbortSignal): Promise<void>
  /** Writes an archive of the images with these complete names. */
  save(names: readonly string[], archive: Writable, signal: AbortSignal): Promise<void>
  /** Takes one of its complete names from an image; it stays under the others. */
  untag(name: string, signal: AbortSignal): Promise<void>
}

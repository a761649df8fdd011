/** The folders of volumes; each has the name of its volume. */
export interface LocalVolumeFolders {
  /** Where all of them are. */
  readonly root: string
  /** Makes a folder where it is missing. */
  make(name: string, signal: AbortSignal): Promise<void>
  /** Removes a folder and all that is in it; one that is gone is as good. */
  remove(name: string, signal: AbortSignal): Promise<void>
  /** The names of those there are. */
  list(): Promise<readonly string[]>
}

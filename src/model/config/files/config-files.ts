type EntryKind = 'file' | 'directory' | 'symlink' | 'other'

/** The little of a file system that reading the configuration needs. */
export interface ConfigFiles {
  /** The whole file; refuses one that is larger than maxBytes. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>
  /** What is at the path itself, without following a link there (a slash at the end does follow it). */
  entryKind(path: string): Promise<EntryKind>
  /** What is in the folder, in any order. */
  listDirectory(path: string): Promise<readonly { readonly name: string; readonly kind: EntryKind }[]>
}

import type { FileSystemUsage, TreeUsage } from '../files/file-usage.ts'

/** A path that a pod or a user names inside a volume: the volume's own root, and what is below it. */
export interface PathInside {
  /** Trusted: only the agent and the node's administrators name it. */
  readonly root: string
  /** Relative; links in it are followed only as long as they stay inside the root. */
  readonly path: string
}

export type HostPathType =
  | ''
  | 'DirectoryOrCreate'
  | 'Directory'
  | 'FileOrCreate'
  | 'File'
  | 'Socket'
  | 'CharDevice'
  | 'BlockDevice'

export type FileKind = 'directory' | 'file' | 'blockDevice' | 'other' | 'absent'

/**
 * Work on files that a pod controls or that may hang: each call runs in a child process which is killed at the deadline or abort, so a FIFO
 * or a dead file system holds up no other pod. Failures are errors with a code like ENOENT where there is one; one that is late is a
 * DeadlineError.
 */
export interface GuardedFiles {
  /** Makes what the type allows to make; fails when the path is not of the type. Without a type anything will do that answers. */
  checkHostPath(request: { readonly path: string; readonly type: HostPathType }, signal: AbortSignal): Promise<void>
  /** Group and modes of fsGroup for a whole tree, root last; says in between how many entries are done. */
  setOwnership(
    request: OwnershipRequest,
    onProgress: (entries: number) => void,
    signal: AbortSignal,
  ): Promise<OwnershipOutcome>
  /** Disk space by blocks, each inode once, never leaving the file system. */
  measureTree(root: string, signal: AbortSignal): Promise<TreeUsage>
  measureFileSystem(path: string, signal: AbortSignal): Promise<FileSystemUsage>
  /** Removes a tree of the agent's own kind (an emptyDir): never leaves its file system, never follows a link; fails if a mount is in it. */
  removeTree(root: string, signal: AbortSignal): Promise<void>
  /** Makes a missing directory of a subPath, with the mode of the root; follows no link where it makes something. */
  makeSubPath(inside: PathInside, signal: AbortSignal): Promise<void>
  /** Binds what is inside at the target, race-free; makes the target a directory or file. Reuses a bind of the very same inode. */
  bindSubPath(request: PathInside & { readonly target: string }, signal: AbortSignal): Promise<void>
  /** Unmounts and removes all targets below a directory, that of a pod's volume-subpaths or of one volume in it. */
  releaseSubPaths(directory: string, signal: AbortSignal): Promise<void>
  /** A regular file inside, at most so many bytes; fails for anything else. */
  readFile(request: PathInside & { readonly maxBytes: number }, signal: AbortSignal): Promise<Uint8Array>
  /** What kind of thing is there, links followed. */
  kindOf(path: string, signal: AbortSignal): Promise<FileKind>
}

export interface OwnershipRequest {
  readonly root: string
  readonly group: number
  readonly readOnly: boolean
  readonly onlyOnRootMismatch: boolean
}

/** Entries that cannot be changed do not fail the whole. */
export interface OwnershipOutcome {
  /** 0 when nothing had to be checked. */
  readonly entries: number
  readonly failed: number
  readonly firstFailure?: string | undefined
}

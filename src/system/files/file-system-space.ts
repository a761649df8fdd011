import { statfs } from 'node:fs/promises'

/** How large a file system is, and how much of it is left for us. */
export interface FileSystemSpace {
  readonly capacityBytes: number
  readonly availableBytes: number
}

/** Asks the kernel about the file system that holds a path. */
export async function readFileSystemSpace(path: string): Promise<FileSystemSpace> {
  const { blocks, bavail, bsize } = await statfs(path)
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize }
}

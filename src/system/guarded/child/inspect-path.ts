import { statfsSync, statSync } from 'node:fs'
import type { FileSystemUsage } from '../../files/file-usage.ts'
import type { FileKind } from '../guarded-files.ts'
import { hasCode } from '../../files/error-codes.ts'

export function kindOf(request: { readonly path: string }): FileKind {
  try {
    const stat = statSync(request.path)
    if (stat.isDirectory()) return 'directory'
    if (stat.isFile()) return 'file'
    return stat.isBlockDevice() ? 'blockDevice' : 'other'
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'absent'
    throw error
  }
}

/** What the file system of a path has and has left. */
export function measureFileSystem(request: { readonly path: string }): FileSystemUsage {
  const { blocks, bfree, bavail, frsize, bsize, files, ffree } = statfsSync(request.path)
  const unit = frsize || bsize
  return {
    capacityBytes: blocks * unit,
    availableBytes: bavail * unit,
    usedBytes: (blocks - bfree) * unit,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  }
}

/** What files take on the disk. */
export interface TreeUsage {
  readonly bytes: number
  readonly inodes: number
}

/** How large a file system is, and what of it is used. */
export interface FileSystemUsage {
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly usedBytes: number
  readonly inodes: number
  readonly inodesFree: number
  readonly inodesUsed: number
}

/** One line of the kernel's mount table. */
export interface MountEntry {
  readonly id: number
  readonly parentId: number
  /** As in 8:1. */
  readonly device: string
  /** What of the file system is mounted. */
  readonly root: string
  readonly point: string
  readonly options: readonly string[]
  readonly isShared: boolean
  readonly fileSystem: string
  readonly source: string
  readonly superOptions: readonly string[]
}

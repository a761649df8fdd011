/** How the folders of cgroups lie on a machine: the part in which the two versions differ. */
export interface CgroupFolders {
  readonly version: 1 | 2
  /** What the kernel can control here. */
  readonly controllers: ReadonlySet<string>
  /** Is there such a cgroup? It may lack controllers. */
  exists(cgroup: string): boolean
  /** The controllers that pods need and that this cgroup does not have; all of them when there is no such cgroup. */
  missing(cgroup: string): readonly string[]
  /** Makes it, and those above it; what is there stays. */
  make(cgroup: string): void
  /** Where the files of one controller are. */
  folderOf(controller: string, cgroup: string): string
  /** Every folder that is this cgroup. */
  folders(cgroup: string): readonly string[]
}

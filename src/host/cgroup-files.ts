import { writeFile } from 'node:fs/promises'
import { createCgroupFilesV1 } from './cgroup-files-v1.ts'
import { createCgroupFilesV2 } from './cgroup-files-v2.ts'
import { hasCode } from './error-codes.ts'
import { writeKernelFile } from './write-kernel-file.ts'

/** One value for one file of a cgroup. */
export interface CgroupWrite {
  readonly controller: 'cpu' | 'cpuset' | 'memory' | 'pids' | 'hugetlb'
  readonly file: string
  readonly text: string
  /** Not every kernel has it, and nothing is lost without. */
  readonly optional?: boolean
}

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

/** Makes cgroups and writes their files. What is new is written at once: the kernel does that in memory, and nobody is in it yet. */
export interface CgroupFiles extends CgroupFolders {
  write(cgroup: string, writes: readonly CgroupWrite[]): void
  /** For one that is in use: the kernel may take its time to make room below a new limit. */
  change(cgroup: string, writes: readonly CgroupWrite[]): Promise<void>
  addProcess(cgroup: string, pid: number): void
}

/** The cgroups of this machine, or of a tree with the same files. Looks once at what there is. */
export function openCgroupFiles(version: 1 | 2, mount = '/sys/fs/cgroup'): CgroupFiles {
  const folders = version === 2 ? createCgroupFilesV2(mount) : createCgroupFilesV1(mount)
  const pathsOf = (cgroup: string, writes: readonly CgroupWrite[]) =>
    writes.filter((write) => isThere(folders, cgroup, write)).map((write) => ({ ...write, path: toPath(cgroup, write) }))
  const toPath = (cgroup: string, { controller, file }: CgroupWrite) => `${folders.folderOf(controller, cgroup)}/${file}`
  return {
    ...folders,
    write(cgroup, writes) {
      for (const { path, text, optional = false } of pathsOf(cgroup, writes)) {
        unlessOptional(optional, () => writeKernelFile(path, text))
      }
    },
    async change(cgroup, writes) {
      for (const { path, text, optional = false } of pathsOf(cgroup, writes)) {
        try {
          await writeFile(path, text, { flag: 'r+' })
        } catch (cause) {
          if (!optional || !hasCode(cause, 'ENOENT')) throw refuse(path, text, cause)
        }
      }
    },
    addProcess(cgroup, pid) {
      for (const folder of folders.folders(cgroup)) writeKernelFile(`${folder}/cgroup.procs`, String(pid))
    },
  }
}

/** Huge pages and CPU sets are named for every cgroup; where the kernel cannot control them there is nothing to say. */
function isThere({ controllers }: CgroupFolders, cgroup: string, { controller, file, text }: CgroupWrite): boolean {
  if (controllers.has(controller)) return true
  if (controller === 'hugetlb' || controller === 'cpuset') return false
  throw new Error(`Cannot write "${text}" to ${file} of cgroup "${cgroup}": the kernel has no controller ${controller}`)
}

function unlessOptional(optional: boolean, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!optional || !Error.isError(error) || !hasCode(error.cause, 'ENOENT')) throw error
  }
}

function refuse(path: string, text: string, cause: unknown): Error {
  return new Error(`Cannot write "${text}" to "${path}"`, { cause })
}

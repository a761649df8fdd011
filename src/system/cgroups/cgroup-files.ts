import { writeFile } from 'node:fs/promises'
import { createCgroupFoldersV1 } from './cgroup-folders-v1.ts'
import { createCgroupFoldersV2 } from './cgroup-folders-v2.ts'
import type { CgroupFolders } from './cgroup-folders.ts'
import { hasCode } from '../files/error-codes.ts'
import { toWriteError, writeKernelFile } from './write-kernel-file.ts'

/** One value for one file of a cgroup. */
interface CgroupWrite {
  readonly controller: 'cpu' | 'cpuset' | 'memory' | 'pids' | 'hugetlb'
  readonly file: string
  readonly text: string
  /** Not every kernel has it, and nothing is lost without. */
  readonly optional?: boolean
}

/** Makes cgroups and writes their files. What is new is written at once: the kernel does that in memory, and no process is in it yet. */
export interface CgroupFiles extends CgroupFolders {
  write(cgroup: string, writes: readonly CgroupWrite[]): void
  /** For one that is in use: the kernel may take its time to make room below a new limit. */
  change(cgroup: string, writes: readonly CgroupWrite[]): Promise<void>
  addProcess(cgroup: string, pid: number): void
}

/** The cgroups of this machine, or of a tree with the same files. Reads once what there is. */
export function openCgroupFiles(version: 1 | 2, mount = '/sys/fs/cgroup'): CgroupFiles {
  const folders = version === 2 ? createCgroupFoldersV2(mount) : createCgroupFoldersV1(mount)
  const pathsOf = (cgroup: string, writes: readonly CgroupWrite[]) =>
    writes
      .filter((write) => isThere(folders, cgroup, write))
      .map((write) => ({ ...write, path: toPath(cgroup, write) }))
  const toPath = (cgroup: string, { controller, file }: CgroupWrite) =>
    `${folders.folderOf(controller, cgroup)}/${file}`
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
          if (!optional || !hasCode(cause, 'ENOENT')) throw toWriteError(path, text, cause)
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

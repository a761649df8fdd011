import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hasCode } from '../files/error-codes.ts'

/** The controllers whose files are read. On cgroup v2 they all share one tree. */
type CgroupController = 'cpu' | 'cpuset' | 'cpuacct' | 'memory' | 'pids' | 'blkio'

/** The files of cgroups. Short and made by the kernel in memory: read at once, which is far cheaper than asking for each. */
export interface CgroupReader {
  readonly version: 1 | 2
  /** Undefined when there is no such cgroup or file. */
  read(controller: CgroupController, cgroup: string, file: string): string | undefined
  /** In the tree of a controller, on cgroup v1; far cheaper than reading a file of it. */
  exists(cgroup: string, controller?: CgroupController): boolean
  /** Names of the cgroups directly below. */
  children(cgroup: string): readonly string[]
}

/** Of the machine itself, or of a tree with the same files. */
export function createCgroupReader(version: 1 | 2, mount = '/sys/fs/cgroup'): CgroupReader {
  const folderOf = (controller: CgroupController, cgroup: string) =>
    version === 2 ? `${mount}${cgroup}` : `${mount}/${controller}${cgroup}`
  return {
    version,
    read: (controller, cgroup, file) => readKernelFile(`${folderOf(controller, cgroup)}/${file}`),
    exists: (cgroup, controller = 'memory') => existsSync(folderOf(controller, cgroup)),
    children(cgroup) {
      try {
        const entries = readdirSync(folderOf('memory', cgroup), { withFileTypes: true })
        return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return []
        throw error
      }
    },
  }
}

/** A file that the kernel makes while it is read; undefined when it is not there, or gone in between, or not for this kernel. */
export function readKernelFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // Some files are there and cannot be read: PSI when it is switched off, what belongs to a process that ended.
    if (hasCode(error, 'ENOENT', 'ENODEV', 'EOPNOTSUPP', 'ESRCH', 'EINVAL', 'ENOTDIR')) return undefined
    throw error
  }
}

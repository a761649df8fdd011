import { mkdirSync, readFileSync } from 'node:fs'
import type { CgroupFolders } from './cgroup-folders.ts'
import { hasCode } from '../files/error-codes.ts'
import { writeKernelFile } from './write-kernel-file.ts'

const WANTED = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'] as const

/** Version 2: one tree. A controller works in a cgroup only when every one above passes it on. */
export function createCgroupFoldersV2(mount: string): CgroupFolders {
  const available = readControllers(`${mount}/cgroup.controllers`) ?? []
  const needed = WANTED.filter((name) => available.includes(name))
  const missing = (cgroup: string) => {
    const own = readControllers(`${mount}${cgroup}/cgroup.controllers`)
    return own === undefined ? needed : needed.filter((name) => !own.includes(name))
  }
  return {
    version: 2,
    controllers: new Set(needed),
    exists: (cgroup) => readControllers(`${mount}${cgroup}/cgroup.controllers`) !== undefined,
    missing,
    make(cgroup) {
      mkdirSync(`${mount}${cgroup}`, { recursive: true })
      // Seldom: those above pods pass their controllers on since the first pod.
      if (missing(cgroup).length > 0) for (const above of foldersAbove(mount, cgroup)) passOn(above, needed)
      const lacks = missing(cgroup)
      if (lacks.length > 0) {
        throw new Error(
          `Cannot make cgroup "${cgroup}": it has no ${lacks.join(', ')}, expected those above it to pass them on`,
        )
      }
    },
    folderOf: (_, cgroup) => `${mount}${cgroup}`,
    folders: (cgroup) => [`${mount}${cgroup}`],
  }
}

/** From the root down to the one above. */
function foldersAbove(mount: string, cgroup: string): readonly string[] {
  const parts = cgroup.split('/').filter((part) => part !== '')
  return parts.map((_, index) => [mount, ...parts.slice(0, index)].join('/'))
}

function passOn(folder: string, controllers: readonly string[]): void {
  const file = `${folder}/cgroup.subtree_control`
  const passed = readControllers(file) ?? []
  const changes = controllers.filter((name) => !passed.includes(name)).map((name) => `+${name}`)
  if (changes.length === 0) return
  try {
    writeKernelFile(file, changes.join(' '))
  } catch {
    // All or nothing for the kernel: one that cannot be passed on must not keep back the others. A caller that needs it finds it missing.
    for (const change of changes) tryTo(() => writeKernelFile(file, change))
  }
}

function tryTo(work: () => void): void {
  try {
    work()
  } catch {
    // The caller reports what is missing in the end.
  }
}

/** Undefined when there is no such cgroup. */
function readControllers(file: string): readonly string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENODEV')) return undefined
    throw error
  }
}

import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CgroupFolders } from './cgroup-folders.ts'
import { writeKernelFile } from './write-kernel-file.ts'

// Every hierarchy that counts when it is asked whether a pod has its cgroup. The last one belongs to systemd and controls nothing.
const HIERARCHIES = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb', 'systemd'] as const
const NEEDED = ['cpu', 'cpuacct', 'cpuset', 'memory'] as const

/** Version 1: a tree of folders for each controller, or for several together under one of two names. */
export function createCgroupFoldersV1(mount: string): CgroupFolders {
  // A folder in which nothing is mounted has no such file: some tools make one for each controller that they know.
  const mounted = HIERARCHIES.filter((name) => existsSync(`${mount}/${name}/cgroup.procs`))
  const absent = NEEDED.filter((name) => !mounted.includes(name))
  if (absent.length > 0) {
    throw new Error(
      `Cannot use the cgroups in "${mount}": ${absent.join(', ')} not mounted, expected ${NEEDED.join(', ')}`,
    )
  }
  // cpu and cpuacct are often links to one folder, which is made once.
  const roots = [...new Set(mounted.map((name) => realpathSync(`${mount}/${name}`)))]
  const cpusets = realpathSync(`${mount}/cpuset`)
  const folders = (cgroup: string) => roots.map((root) => `${root}${cgroup}`)
  return {
    version: 1,
    controllers: new Set(mounted),
    exists: (cgroup) => roots.every((root) => existsSync(`${root}${cgroup}`)),
    missing: (cgroup) => mounted.filter((name) => !existsSync(`${mount}/${name}${cgroup}`)),
    make(cgroup) {
      for (const folder of folders(cgroup)) mkdirSync(folder, { recursive: true })
      fillCpuset(cpusets, `${cpusets}${cgroup}`)
    },
    folderOf: (controller, cgroup) => `${mount}/${controller}${cgroup}`,
    folders,
  }
}

/** A new cpuset is empty, and nothing can run in it: it gets what the one above has. */
function fillCpuset(root: string, folder: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) fill(folder, file)

  function fill(at: string, file: string): string {
    const own = readFileSync(`${at}/${file}`, 'utf8').trim()
    if (own !== '' || at === root) return own
    const above = fill(dirname(at), file)
    writeKernelFile(`${at}/${file}`, above)
    return above
  }
}

import type { Clock } from '../../base/async/clock.ts'
import type { CgroupFiles } from '../../system/cgroups/cgroup-files.ts'
import { removeCgroup } from '../../system/cgroups/cgroup-tree.ts'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'
import { computeCgroupWrites } from './compute-cgroup-writes.ts'

/** Makes cgroups: the agent itself, or systemd on its behalf. Paths are those of the layout. */
export interface CgroupDriver {
  exists(cgroup: string): boolean
  /** The controllers that it lacks; none when it is there and whole. */
  missing(cgroup: string): readonly string[]
  make(cgroup: string, values: CgroupValues): Promise<void>
  update(cgroup: string, values: CgroupValues): Promise<void>
  /** With everything in it and below it. */
  remove(cgroup: string, signal: AbortSignal): Promise<void>
}

/** Makes cgroups as folders, directly in the kernel's file system. */
export function createCgroupfsDriver(files: CgroupFiles, clock: Clock): CgroupDriver {
  return {
    exists: (cgroup) => files.exists(cgroup),
    missing: (cgroup) => files.missing(cgroup),
    async make(cgroup, values) {
      files.make(cgroup)
      files.write(cgroup, computeCgroupWrites(files.version, values))
    },
    update: (cgroup, values) => files.change(cgroup, computeCgroupWrites(files.version, values)),
    remove: (cgroup, signal) => removeCgroup(clock, cgroup, signal),
  }
}

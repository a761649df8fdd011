import type { CgroupReader } from '../../../system/cgroups/cgroup-reader.ts'

// A container that runs a whole system has cgroups of its own, but not that deep.
const DEEPEST = 8

/** Pids of the processes in a cgroup and below it. */
export function listProcesses(cgroups: CgroupReader, cgroup: string, depth = 0): readonly number[] {
  const own = listOwnProcesses(cgroups, cgroup)
  if (depth === DEEPEST) return own
  const below = cgroups.children(cgroup).flatMap((name) => listProcesses(cgroups, `${cgroup}/${name}`, depth + 1))
  return [...own, ...below]
}

/** Pids of the processes in a cgroup alone. */
export function listOwnProcesses(cgroups: CgroupReader, cgroup: string): readonly number[] {
  return (cgroups.read('memory', cgroup, 'cgroup.procs') ?? '').split('\n').filter(Boolean).map(Number)
}

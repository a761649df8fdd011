import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuPlace } from '../../model/resources/cpu-place.ts'

/** All CPUs of the machine that are online. */
export type CpuTopology = readonly CpuPlace[]

/** What CPUs can have in common. */
export type CpuLevel = 'core' | 'uncoreCache' | 'numaNode' | 'socket'

/** The CPUs by what they have in common. */
export function groupCpus(places: CpuTopology, level: CpuLevel): ReadonlyMap<number, CpuSet> {
  const groups = new Map<number, Set<number>>()
  for (const place of places) groups.set(place[level], (groups.get(place[level]) ?? new Set()).add(place.cpu))
  return groups
}

export function allCpus(topology: CpuTopology): CpuSet {
  return new Set(topology.map(({ cpu }) => cpu))
}

/** How many CPUs of the kernel a core is; on a machine with cores of several kinds the smallest whole average. */
export function threadsPerCore(topology: CpuTopology): number {
  return Math.max(1, Math.floor(topology.length / groupCpus(topology, 'core').size))
}

/** Those of the CPUs whose whole core is among them. */
export function wholeCores(topology: CpuTopology, cpus: CpuSet): CpuSet {
  const cores = [...groupCpus(topology, 'core').values()].filter((core) => core.isSubsetOf(cpus))
  return new Set(cores.flatMap((core) => [...core]))
}

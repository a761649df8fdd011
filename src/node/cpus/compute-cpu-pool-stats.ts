import type { CpuPoolStats } from '../../metrics/placement-metrics.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { assignedCpus } from './cpu-state.ts'
import type { CpuState } from './cpu-state.ts'
import { groupCpus } from './cpu-topology.ts'

/** How many CPUs are given away, and how many could be. */
export function computeCpuPoolStats(
  { topology, reserved }: CpuPolicy,
  { shared, assignments }: CpuState,
): CpuPoolStats {
  const exclusive = assignedCpus(assignments)
  const places = topology.filter(({ cpu }) => exclusive.has(cpu))
  return {
    free: shared.difference(reserved).size,
    exclusive: exclusive.size,
    exclusiveByNode: new Map([...groupCpus(places, 'numaNode')].map(([node, cpus]) => [node, cpus.size])),
  }
}

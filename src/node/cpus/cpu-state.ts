import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { allCpus } from './cpu-topology.ts'

/** The CPUs of containers that have some for themselves, by pod and by name. */
export type CpuAssignmentTable = ReadonlyMap<PodUid, ReadonlyMap<string, CpuSet>>

/** Which CPUs all containers share, and which belong to one alone. */
export interface CpuState {
  readonly shared: CpuSet
  readonly assignments: CpuAssignmentTable
}

/** The state with these assignments: CPUs without an owner are shared. */
export function toCpuState(policy: CpuPolicy, assignments: CpuAssignmentTable): CpuState {
  const { topology, reserved, options } = policy
  const pool = options.strictReservation ? allCpus(topology).difference(reserved) : allCpus(topology)
  return { shared: pool.difference(assignedCpus(assignments)), assignments }
}

/** All CPUs that belong to one container, or to several of one pod that do not run at the same time. */
export function assignedCpus(assignments: CpuAssignmentTable): CpuSet {
  const sets = [...assignments.values()].flatMap((containers) => [...containers.values()])
  return new Set(sets.flatMap((cpus) => [...cpus]))
}

/** The table with one more entry. */
export function withAssignment(
  assignments: CpuAssignmentTable,
  { uid, container, cpus }: { readonly uid: PodUid; readonly container: string; readonly cpus: CpuSet },
): CpuAssignmentTable {
  const containers = new Map([...(assignments.get(uid) ?? []), [container, cpus] as const])
  return new Map([...assignments, [uid, containers] as const])
}

/** The table without a pod. */
export function withoutPod(assignments: CpuAssignmentTable, uid: PodUid): CpuAssignmentTable {
  return new Map([...assignments].filter(([other]) => other !== uid))
}

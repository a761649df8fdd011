import { formatCpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { WHOLE_POD } from '../placement/pod-level.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { assignedCpus, toCpuState, withAssignment } from './cpu-state.ts'
import type { CpuAssignmentTable, CpuState } from './cpu-state.ts'
import { allCpus } from './cpu-topology.ts'

/** What can go on as it was recorded, and what cannot. */
export interface KeptAssignments {
  readonly state: CpuState
  /** Why the record does not fit this machine and its configuration; undefined when it does. */
  readonly problem: string | undefined
  readonly dropped: readonly { readonly uid: PodUid; readonly container: string; readonly cpus: string }[]
}

/** Keeps the assignments of a record that are still exclusive: CPUs that are online, not reserved, and not those of another pod. */
export function computeKeptAssignments(recorded: CpuState, policy: CpuPolicy): KeptAssignments {
  const allowed = allCpus(policy.topology).difference(policy.reserved)
  const dropped: KeptAssignments['dropped'][number][] = []
  let kept: CpuAssignmentTable = new Map()
  for (const [uid, containers] of recorded.assignments) {
    const others = assignedCpus(kept)
    for (const [container, cpus] of containers) {
      // What a pod had as a whole is free when pods are not placed so any more.
      if (container === WHOLE_POD && policy.options.podLevel !== 'pod') continue
      if (cpus.size > 0 && cpus.isSubsetOf(allowed) && cpus.isDisjointFrom(others))
        kept = withAssignment(kept, { uid, container, cpus })
      else dropped.push({ uid, container, cpus: formatCpuSet(cpus) })
    }
  }
  const state = toCpuState(policy, kept)
  return { state, problem: describeProblem(recorded, state, dropped.length > 0), dropped }
}

/** A record that nothing was written to yet fits everywhere. */
function describeProblem(recorded: CpuState, kept: CpuState, hasDropped: boolean): string | undefined {
  if (recorded.shared.size === 0 && recorded.assignments.size === 0) return undefined
  if (hasDropped) return 'some CPUs are not there any more, are reserved now, or belong to two pods'
  if (equalSets(recorded.shared, kept.shared)) return undefined
  const [was, is] = [formatCpuSet(recorded.shared), formatCpuSet(kept.shared)]
  return `the shared CPUs are recorded as "${was}" and have to be "${is}"`
}

function equalSets(a: CpuSet, b: CpuSet): boolean {
  return a.size === b.size && a.isSubsetOf(b)
}

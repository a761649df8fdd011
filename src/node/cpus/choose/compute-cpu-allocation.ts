import type { CpuSet } from '../../../model/resources/cpu-set.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeContainerCpus, computeUsableCpus } from '../compute-container-cpus.ts'
import type { CpuRejection, CpuSituation } from '../compute-container-cpus.ts'
import { toCpuState, withAssignment } from '../cpu-state.ts'
import type { CpuState } from '../cpu-state.ts'

/** What a pod gets: all its containers theirs, or the first that does not. */
export type CpuAllocation =
  | { readonly kind: 'given'; readonly state: CpuState; readonly given: readonly CpuSet[] }
  | { readonly kind: 'rejected'; readonly rejection: CpuRejection; readonly given: readonly CpuSet[] }

/** Gives each container of a pod the CPUs that it is to have for itself, wherever they are; those that have theirs keep them. */
export function computeCpuAllocation(pod: Pod, situation: CpuSituation): CpuAllocation {
  const { uid } = pod.metadata
  const given: CpuSet[] = []
  const { policy, state } = situation
  let { assignments } = state
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const usable = computeUsableCpus(pod, container, { ...situation, state: { ...state, assignments } })
    if (usable.count === 0 || assignments.get(uid)?.has(container.name) === true) continue
    const choice = computeContainerCpus(policy, usable, undefined)
    if ('rejection' in choice) return { kind: 'rejected', rejection: choice.rejection, given }
    given.push(choice.cpus)
    assignments = withAssignment(assignments, { uid, container: container.name, cpus: choice.cpus })
  }
  return { kind: 'given', state: given.length === 0 ? state : toCpuState(policy, assignments), given }
}

import type { CpuSet } from '../../model/cpu-set.ts'
import { isSidecar } from '../../model/pod-containers.ts'
import type { Pod } from '../../model/pod.ts'
import { computeChosenCpus } from './compute-chosen-cpus.ts'
import { computeExclusiveCount } from './compute-exclusive-count.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { toCpuState, withAssignment } from './cpu-state.ts'
import type { CpuAssignmentTable, CpuState } from './cpu-state.ts'
import { threadsPerCore, wholeCores } from './cpu-topology.ts'

/** Why containers do not get the CPUs they ask for, in Kubernetes' own reasons. */
export interface CpuRejection {
  readonly reason: 'SMTAlignmentError' | 'UnexpectedAdmissionError'
  readonly message: string
}

/** What a pod gets: all its containers theirs, or the first that does not. */
export type CpuAllocation =
  | { readonly kind: 'given'; readonly state: CpuState; readonly given: readonly CpuSet[] }
  | { readonly kind: 'refused'; readonly rejection: CpuRejection; readonly given: readonly CpuSet[] }

export interface AllocationInput {
  readonly policy: CpuPolicy
  readonly state: CpuState
  /** CPUs that must not be given away although nobody has been given them. */
  readonly held: CpuSet
}

/**
 * Gives each container of a pod the CPUs that it is to have for itself; those that have theirs keep them. What an init container had,
 * later containers have again; sidecars run beside them and share nothing.
 */
export function computeCpuAllocation(pod: Pod, { policy, state, held }: AllocationInput): CpuAllocation {
  const { uid } = pod.metadata
  const given: CpuSet[] = []
  let assignments: CpuAssignmentTable = state.assignments
  let reusable: CpuSet = new Set()
  for (const { container, isReusable } of listContainers(pod)) {
    const count = computeExclusiveCount(pod, container)
    if (count === 0) continue
    let cpus = assignments.get(uid)?.get(container.name)
    if (cpus === undefined) {
      const free = toCpuState(policy, assignments).shared.difference(policy.reserved).difference(held)
      // Those that come after it may have theirs already, when the record of a pod that runs was lost.
      const later = isReusable ? cpusOfRegular(pod, assignments) : new Set<number>()
      const choice = choose(policy, later.size >= count ? later : free.union(reusable).union(later), count)
      if (!(choice instanceof Set)) return { kind: 'refused', rejection: choice, given }
      cpus = choice
      given.push(cpus)
      assignments = withAssignment(assignments, { uid, container: container.name, cpus })
    }
    reusable = isReusable ? reusable.union(cpus) : reusable.difference(cpus)
  }
  return { kind: 'given', state: given.length === 0 ? state : toCpuState(policy, assignments), given }
}

function cpusOfRegular({ metadata, spec }: Pod, assignments: CpuAssignmentTable): CpuSet {
  const sets = spec.containers.flatMap(({ name }) => [...(assignments.get(metadata.uid)?.get(name) ?? [])])
  return new Set(sets)
}

function listContainers({ spec }: Pod) {
  return [
    ...(spec.initContainers ?? []).map((container) => ({ container, isReusable: !isSidecar(container) })),
    ...spec.containers.map((container) => ({ container, isReusable: false })),
  ]
}

function choose(policy: CpuPolicy, available: CpuSet, count: number): Set<number> | CpuRejection {
  const { fullCoresOnly } = policy.options
  const usable = fullCoresOnly ? wholeCores(policy.topology, available) : available
  if (fullCoresOnly) {
    const threads = threadsPerCore(policy.topology)
    if (count % threads !== 0) return smtError(`requested ${count} cpus not multiple cpus per core = ${threads}`)
    if (count > usable.size) {
      const amounts = `available physical CPUs = ${usable.size}, requested CPUs = ${count}, CPUs per core = ${threads}`
      return smtError(`not enough free physical CPUs: ${amounts}`)
    }
  }
  const chosen = computeChosenCpus(policy, { available: usable, count })
  if (chosen !== undefined) return new Set(chosen)
  const why = `not enough cpus available to satisfy request: requested=${count}, available=${usable.size}`
  return { reason: 'UnexpectedAdmissionError', message: `Allocate failed due to ${why}, which is unexpected` }
}

function smtError(why: string): CpuRejection {
  return { reason: 'SMTAlignmentError', message: `SMT Alignment Error: ${why}` }
}

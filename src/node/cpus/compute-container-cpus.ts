import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { NumaSet } from '../placement/hint-provider.ts'
import { computeChosenCpus } from './choose/compute-chosen-cpus.ts'
import { computeExclusiveCount } from './choose/compute-exclusive-count.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { toCpuState } from './cpu-state.ts'
import type { CpuAssignmentTable, CpuState } from './cpu-state.ts'
import { threadsPerCore, wholeCores } from './cpu-topology.ts'

/** Why containers do not get the CPUs they ask for, in Kubernetes' own reasons. */
export interface CpuRejection {
  readonly reason: 'SMTAlignmentError' | 'UnexpectedAdmissionError' | 'EmptyPodSharedPoolError'
  readonly message: string
}

/** What is given away, and what must not be. */
export interface CpuSituation {
  readonly policy: CpuPolicy
  readonly state: CpuState
  /** CPUs that must not be given away although no container owns them. */
  readonly held: CpuSet
}

/** CPUs for one container, and how many it is to have. */
export interface UsableCpus {
  readonly count: number
  /** CPUs that no container owns. */
  readonly free: CpuSet
  /** CPUs of other containers of the pod that never run at the same time. */
  readonly reusable: CpuSet
}

/**
 * Where a container can take its CPUs from. What an init container had, later containers have again; sidecars run beside them and share
 * nothing. Those that come after an init container may have theirs already, when the record of a pod that runs was lost.
 */
export function computeUsableCpus(pod: Pod, container: Container, situation: CpuSituation): UsableCpus {
  const { policy, held } = situation
  const { assignments } = situation.state
  const count = computeExclusiveCount(pod, container, policy.options.podLevel)
  const usable = (cpus: CpuSet) => toUsable(policy, cpus)
  const later = isPlainInit(pod, container) ? computeRegularCpus(pod, assignments) : new Set<number>()
  if (later.size >= count) return { count, free: new Set(), reusable: usable(later) }
  const free = toCpuState(policy, assignments).shared.difference(policy.reserved).difference(held)
  const all = usable(free.union(computeReusableCpus(pod, container, assignments)).union(later))
  return { count, free: all.intersection(free), reusable: all.difference(free) }
}

/** Of these CPUs those that may be given: none that shares its core with another owner, when the policy says so. */
export function toUsable({ topology, options }: CpuPolicy, cpus: CpuSet): CpuSet {
  return options.fullCoresOnly ? wholeCores(topology, cpus) : cpus
}

/** As many CPUs as the container needs, those of the wanted NUMA nodes first; or why not. */
export function computeContainerCpus(
  policy: CpuPolicy,
  { count, free, reusable }: UsableCpus,
  nodes: NumaSet | undefined,
): { readonly cpus: CpuSet } | { readonly rejection: CpuRejection } {
  const available = free.union(reusable)
  if (policy.options.fullCoresOnly) {
    const threads = threadsPerCore(policy.topology)
    if (count % threads !== 0) return smtError(`requested ${count} cpus not multiple cpus per core = ${threads}`)
    if (count > available.size) {
      const amounts = `available physical CPUs = ${available.size}, requested CPUs = ${count}, CPUs per core = ${threads}`
      return smtError(`not enough free physical CPUs: ${amounts}`)
    }
  }
  const near = nodes === undefined ? new Set<number>() : nearCpus(policy, nodes).intersection(available)
  const first = computeChosenCpus(policy, { available: near, count: Math.min(count, near.size) }) ?? new Set()
  const rest = computeChosenCpus(policy, { available: available.difference(first), count: count - first.size })
  if (rest !== undefined) return { cpus: first.union(rest) }
  return { rejection: tooFew(count, available) }
}

export function tooFew(count: number, { size }: CpuSet): CpuRejection {
  const why = `not enough cpus available to satisfy request: requested=${count}, available=${size}`
  return { reason: 'UnexpectedAdmissionError', message: `Allocate failed due to ${why}, which is unexpected` }
}

/** The CPUs of these NUMA nodes, or of the sockets that have them. */
function nearCpus({ topology, options }: CpuPolicy, nodes: NumaSet): CpuSet {
  const onNodes = topology.filter(({ numaNode }) => nodes.has(numaNode))
  if (!options.alignBySocket) return new Set(onNodes.map(({ cpu }) => cpu))
  const sockets = new Set(onNodes.map(({ socket }) => socket))
  return new Set(topology.filter(({ socket }) => sockets.has(socket)).map(({ cpu }) => cpu))
}

function computeReusableCpus({ metadata, spec }: Pod, { name }: Container, assignments: CpuAssignmentTable): CpuSet {
  let reusable: CpuSet = new Set()
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  const inits = new Set<Container>(spec.initContainers?.filter((init) => !isSidecar(init)))
  for (const container of containers) {
    if (container.name === name) break
    const cpus = assignments.get(metadata.uid)?.get(container.name) ?? new Set()
    reusable = inits.has(container) ? reusable.union(cpus) : reusable.difference(cpus)
  }
  return reusable
}

function computeRegularCpus({ metadata, spec }: Pod, assignments: CpuAssignmentTable): CpuSet {
  return new Set(spec.containers.flatMap(({ name }) => [...(assignments.get(metadata.uid)?.get(name) ?? [])]))
}

function isPlainInit({ spec }: Pod, container: Container): boolean {
  return !isSidecar(container) && spec.initContainers?.some(({ name }) => name === container.name) === true
}

function smtError(why: string): { readonly rejection: CpuRejection } {
  return { rejection: { reason: 'SMTAlignmentError', message: `SMT Alignment Error: ${why}` } }
}

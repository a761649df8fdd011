import { computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { QosClass } from '../../model/resources/compute-qos-class.ts'
import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Shortage } from '../../model/resources/fit/compute-shortages.ts'
import { amountOf } from '../../model/resources/resource-units.ts'

/** How much of a resource still has to come free. */
interface Need {
  readonly resource: string
  readonly amount: bigint
}

interface Candidate {
  readonly pod: Pod
  readonly qos: QosClass
  readonly requests: ResourceAmounts
}

/** Who has to go, in this order; or what is missing even when all go that could. */
type Preemption =
  | { readonly kind: 'victims'; readonly victims: readonly Pod[] }
  | { readonly kind: 'impossible'; readonly missing: readonly Need[] }

/** Chooses the pods that make room for a critical one: as few promises as possible are broken, then as few pods as possible. */
export function computePreemption(pod: Pod, others: readonly Pod[], shortages: readonly Shortage[]): Preemption {
  const needs = shortages.map(({ resource, requested, used, capacity }) => ({
    resource,
    amount: requested - (capacity - used),
  }))
  const candidates = others
    .filter((other) => mayPreempt(pod, other))
    .map((other) => ({
      pod: other,
      qos: computeQosClass(other),
      requests: computePodRequests(other, { overhead: true }),
    }))
  const missing = without(needs, candidates)
  if (missing.length > 0) return { kind: 'impossible', missing }
  const of = (qos: QosClass) => candidates.filter((candidate) => candidate.qos === qos)
  // Each class gives only what the cheaper ones, all of them, cannot.
  const guaranteed = nearest(of('Guaranteed'), without(needs, [...of('BestEffort'), ...of('Burstable')]))
  const burstable = nearest(of('Burstable'), without(needs, [...of('BestEffort'), ...guaranteed]))
  const bestEffort = nearest(of('BestEffort'), without(needs, [...burstable, ...guaranteed]))
  return { kind: 'victims', victims: [...bestEffort, ...burstable, ...guaranteed].map((victim) => victim.pod) }
}

function mayPreempt(pod: Pod, other: Pod): boolean {
  if (isCriticalPod(pod) && !isCriticalPod(other)) return true
  const [own, theirs] = [pod.spec.priority, other.spec.priority]
  return own !== undefined && theirs !== undefined && own > theirs
}

/** Takes the pod that comes nearest to what is needed, again and again until all is there. */
function nearest(candidates: readonly Candidate[], needs: readonly Need[]): readonly Candidate[] {
  const [first, ...others] = candidates
  if (needs.length === 0 || first === undefined) return []
  const best = others.reduce((best, candidate) => (isBetter(candidate, best, needs) ? candidate : best), first)
  const rest = candidates.filter((candidate) => candidate !== best)
  return [best, ...nearest(rest, without(needs, [best]))]
}

function isBetter(candidate: Candidate, best: Candidate, needs: readonly Need[]): boolean {
  const [own, theirs] = [distance(candidate, needs), distance(best, needs)]
  if (own !== theirs) return own < theirs
  for (const resource of ['memory', 'cpu']) {
    const [small, large] = [freed(candidate, resource), freed(best, resource)]
    if (small !== large) return small < large
  }
  return true
}

/** Each need counts the same, however large its numbers are. */
function distance(candidate: Candidate, needs: readonly Need[]): number {
  return needs.reduce((sum, { resource, amount }) => {
    const left = amount - freed(candidate, resource)
    return left > 0n ? sum + (Number(left) / Number(amount)) ** 2 : sum
  }, 0)
}

function without(needs: readonly Need[], gone: readonly Candidate[]): readonly Need[] {
  return needs.flatMap(({ resource, amount }) => {
    const left = gone.reduce((sum, candidate) => sum - freed(candidate, resource), amount)
    return left > 0n ? [{ resource, amount: left }] : []
  })
}

function freed({ requests }: Candidate, resource: string): bigint {
  return resource === 'pods' ? 1n : amountOf(requests, resource)
}

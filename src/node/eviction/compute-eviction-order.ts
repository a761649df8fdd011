import { computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import type { PodUsage } from '../stats/stats-snapshot.ts'
import type { DiskPart } from './compute-disk-layout.ts'
import { computePodUsage } from './compute-pod-usage.ts'
import type { StarvedResource } from './observed-signal.ts'

export interface EvictionNeed {
  readonly resource: StarvedResource
  readonly parts: readonly DiskPart[]
  readonly stats: ReadonlyMap<PodUid, PodUsage>
}

interface Candidate {
  readonly pod: Pod
  readonly isUnknown: boolean
  /** It uses more than it asked for. */
  readonly exceedsRequest: boolean
  readonly priority: number
  /** What it uses beyond what it asked for. */
  readonly excess: number
}

/** Do pods ask for so much of it? */
const IS_REQUESTED: Readonly<Record<StarvedResource, boolean>> = {
  memory: true,
  'ephemeral-storage': true,
  inodes: true,
  pids: false,
}

/**
 * The order of eviction: pods that use more than they request first, of them those with the lowest priority, of them those with the
 * largest excess. Critical pods are left out.
 */
export function computeEvictionOrder(pods: readonly Pod[], need: EvictionNeed): readonly Pod[] {
  return pods
    .filter((pod) => !isCriticalPod(pod))
    .map((pod) => toCandidate(pod, need))
    .toSorted((a, b) => (IS_REQUESTED[need.resource] ? compareDemands(a, b) : 0) || compareRest(a, b))
    .map(({ pod }) => pod)
}

/** What cannot be measured goes first: there is no other way to bound it. */
function compareDemands(a: Candidate, b: Candidate): number {
  return Number(b.isUnknown) - Number(a.isUnknown) || Number(b.exceedsRequest) - Number(a.exceedsRequest)
}

function compareRest(a: Candidate, b: Candidate): number {
  const [first, second] = [a.pod.metadata.uid, b.pod.metadata.uid]
  return a.priority - b.priority || b.excess - a.excess || (first === second ? 0 : first < second ? -1 : 1)
}

function toCandidate(pod: Pod, { resource, parts, stats }: EvictionNeed): Candidate {
  const usage = computePodUsage(stats.get(pod.metadata.uid), { resource, parts })
  const asked = computePodRequests(pod, { overhead: true }).get(resource)
  const excess = (usage ?? 0) - (asked === undefined ? 0 : Number(quantityValue(asked)))
  const { priority = 0 } = pod.spec
  return { pod, isUnknown: usage === undefined, exceedsRequest: excess > 0, priority, excess }
}

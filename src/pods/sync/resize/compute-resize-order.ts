import { computePodRequests } from '../../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../../model/resources/compute-qos-class.ts'
import type { Pod } from '../../../model/pod/pod.ts'

/** A pod that waits for other resources. */
export interface PendingResize {
  /** As it is asked for. */
  readonly pod: Pod
  /** As it was granted. */
  readonly allocated: Pod
  /** Since when it waits, as the API writes times; undefined when it was never checked. */
  readonly since: string | undefined
}

/** Which pods are checked first: those that ask for no more than they have, then by priority, then Guaranteed pods, then those that have waited longest. */
export function computeResizeOrder(pending: readonly PendingResize[]): readonly PendingResize[] {
  const ranked = pending.map((each) => ({
    each,
    ranks: [
      asksForMore(each) ? 1 : 0,
      -(each.pod.spec.priority ?? 0),
      computeQosClass(each.pod) === 'Guaranteed' ? 0 : 1,
      each.since === undefined ? 1 : 0,
      each.since === undefined ? 0 : Date.parse(each.since),
    ],
  }))
  const compare = (a: readonly number[], b: readonly number[]) => {
    const index = a.findIndex((rank, at) => rank !== b[at])
    return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
  }
  return ranked.sort((a, b) => compare(a.ranks, b.ranks)).map(({ each }) => each)
}

function asksForMore({ pod, allocated }: PendingResize): boolean {
  const [wanted, granted] = [
    computePodRequests(pod, { overhead: false }),
    computePodRequests(allocated, { overhead: false }),
  ]
  return ['cpu', 'memory'].some((name) => (wanted.get(name)?.nanos ?? 0n) > (granted.get(name)?.nanos ?? 0n))
}

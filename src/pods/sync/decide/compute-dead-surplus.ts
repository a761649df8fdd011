import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodUid } from '../../../model/pod/pod.ts'

/** A pod and what the runtime has of it. */
export interface PodWithRemains {
  readonly observed: ObservedPod
  /** Nothing of it runs, or will run, any more. */
  readonly hasEnded: boolean
}

interface Candidate {
  readonly uid: PodUid
  readonly container: ObservedContainer
  /** Without it a pod that goes on would take its container for one that never ran, and run it again. */
  readonly isNeeded: boolean
}

/**
 * Which dead containers are too many when so many may be on the node: first each container keeps the same number, at least one; when that
 * is not enough the oldest go. By pod.
 */
export function computeDeadSurplus(
  pods: readonly PodWithRemains[],
  { limit, createdBefore }: { readonly limit: number; readonly createdBefore: number },
): ReadonlyMap<PodUid, ReadonlySet<string>> {
  const units = pods.flatMap((pod) => listUnits(pod, createdBefore)).filter((candidates) => candidates.length > 0)
  const all = units.flat()
  if (all.length <= limit) return new Map()
  const each = Math.max(1, Math.floor(limit / units.length))
  const [kept, gone] = [units.flatMap((unit) => unit.slice(0, each)), units.flatMap((unit) => unit.slice(each))]
  const oldest = kept
    .filter(({ isNeeded }) => !isNeeded)
    .toSorted((a, b) => a.container.createdAt - b.container.createdAt)
    .slice(0, Math.max(0, kept.length - limit))
  return byPod([...gone.filter(({ isNeeded }) => !isNeeded), ...oldest])
}

/** The dead instances of each container of the pod, the newest first. */
function listUnits({ observed, hasEnded }: PodWithRemains, createdBefore: number): readonly Candidate[][] {
  const units = new Map<string, Candidate[]>()
  for (const container of observed.containers) {
    if (container.state === 'running' || container.createdAt > createdBefore) continue
    const isNeeded = !hasEnded && newestInstance(observed, container.name)?.id === container.id
    const unit = units.get(container.name) ?? []
    units.set(container.name, [...unit, { uid: observed.uid, container, isNeeded }])
  }
  return [...units.values()]
}

function byPod(candidates: readonly Candidate[]): ReadonlyMap<PodUid, ReadonlySet<string>> {
  const found = new Map<PodUid, Set<string>>()
  for (const { uid, container } of candidates) found.set(uid, (found.get(uid) ?? new Set()).add(container.id))
  return found
}

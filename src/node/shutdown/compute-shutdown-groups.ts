import type { Pod } from '../../model/pod/pod.ts'
import type { ShutdownPeriod } from './compute-shutdown-periods.ts'
import { toSeconds } from '../../model/text/int64.ts'
import type { Int64 } from '../../model/generated/core-v1.ts'

/** Pods that end together. */
export interface ShutdownGroup extends ShutdownPeriod {
  readonly pods: readonly { readonly pod: Pod; readonly graceSeconds: number | undefined }[]
}

/**
 * Which pods end one after the other: each belongs to the highest period that its priority reaches, and to the lowest when it reaches
 * none. Periods come lowest first; those without pods are left out, so that they cost no time.
 */
export function computeShutdownGroups(
  periods: readonly ShutdownPeriod[],
  pods: readonly Pod[],
): readonly ShutdownGroup[] {
  const groups = periods.map((period) => ({ ...period, pods: [] as { pod: Pod; graceSeconds: number | undefined }[] }))
  for (const pod of pods) {
    const priority = pod.spec.priority ?? 0
    const group = groups.findLast((each) => each.priority <= priority) ?? groups[0]
    group?.pods.push({ pod, graceSeconds: computeGrace(group.seconds, pod.spec.terminationGracePeriodSeconds) })
  }
  return groups.filter((group) => group.pods.length > 0)
}

function computeGrace(ofGroup: number | undefined, ofPod: Int64 | undefined): number | undefined {
  if (ofPod === undefined) return ofGroup
  return Math.min(ofGroup ?? Infinity, toSeconds(ofPod))
}

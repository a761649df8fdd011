import { isDeepStrictEqual } from 'node:util'
import type { Pod } from '../../../model/pod/pod.ts'

/**
 * Does the status in the API say something that this agent did not report itself? Other controllers decide whether the pod is ready, and
 * which claims are its own.
 */
export function hasApiNews(before: Pod | undefined, after: Pod): boolean {
  const gates = (after.spec.readinessGates ?? []).map(({ conditionType }) => conditionType)
  return (
    gates.some((gate) => conditionOf(before, gate) !== conditionOf(after, gate)) ||
    !isDeepStrictEqual(claimsOf(before), claimsOf(after))
  )
}

/** The claims that controllers made for the pod. */
function claimsOf(pod: Pod | undefined): readonly unknown[] {
  return [pod?.status?.resourceClaimStatuses, pod?.status?.extendedResourceClaimStatus]
}

function conditionOf(pod: Pod | undefined, type: string): string | undefined {
  return pod?.status?.conditions?.find((condition) => condition.type === type)?.status
}

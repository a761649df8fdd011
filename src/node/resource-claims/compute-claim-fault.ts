import type { Pod } from '../../model/pod/pod.ts'
import type { ResourceClaim } from '../../model/resources/resource-claim.ts'
import type { ClaimName, ClaimRules } from './compute-claim-names.ts'

const PODS_GROUP = 'scheduling.k8s.io'

/** Why a pod cannot use a claim of the API now; undefined when it can. */
export function computeClaimFault(
  pod: Pod,
  { name, isOwned }: Extract<ClaimName, { kind: 'claim' }>,
  claim: ResourceClaim,
  { podGroups }: Pick<ClaimRules, 'podGroups'>,
): string | undefined {
  const { namespace, name: podName, uid } = pod.metadata
  if (isOwned && !isOwner(pod, claim, podGroups))
    return `ResourceClaim ${namespace}/${name} was not created for Pod ${namespace}/${podName}`
  if (!isReserved(pod, claim, podGroups))
    return `pod ${podName} (${uid}) is not allowed to use ResourceClaim ${name} (${claim.metadata?.uid ?? ''})`
  return claim.status?.allocation === undefined ? `ResourceClaim ${name}: not allocated` : undefined
}

function isOwner({ metadata, spec }: Pod, claim: ResourceClaim, podGroups: boolean): boolean {
  const controller = claim.metadata?.ownerReferences?.find((owner) => owner.controller === true)
  if (controller?.uid === metadata.uid) return true
  const group = spec.schedulingGroup?.podGroupName
  return (
    podGroups &&
    group !== undefined &&
    controller?.kind === 'PodGroup' &&
    controller.name === group &&
    controller.apiVersion.startsWith(`${PODS_GROUP}/`)
  )
}

/** A pod knows the name of its group, but not the UID. */
function isReserved({ metadata, spec }: Pod, { status }: ResourceClaim, podGroups: boolean): boolean {
  const group = spec.schedulingGroup?.podGroupName
  return (status?.reservedFor ?? []).some(
    ({ uid, apiGroup, resource, name }) =>
      uid === metadata.uid ||
      (podGroups && group !== undefined && apiGroup === PODS_GROUP && resource === 'podgroups' && name === group),
  )
}

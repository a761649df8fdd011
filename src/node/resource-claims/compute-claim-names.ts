import type { Pod } from '../../model/pod/pod.ts'

/** One claim that a pod names, and what the object is called. */
export type ClaimName =
  /** Owned: the claim was made for this pod, and for no other. */
  | { readonly kind: 'claim'; readonly podClaim: string | undefined; readonly name: string; readonly isOwned: boolean }
  /** On purpose there is no such object. */
  | { readonly kind: 'none'; readonly podClaim: string }
  | { readonly kind: 'fault'; readonly podClaim: string; readonly why: string }

export interface ClaimRules {
  /** The gate DRAExtendedResource: the claim that the scheduler made for extended resources counts too. */
  readonly extendedResources: boolean
  /** The gate DRAWorkloadResourceClaims: what is for the group of a pod is for the pod. */
  readonly podGroups: boolean
}

/** The claims of a pod: those it names, those made for it from templates, and the one that stands for its extended resources. */
export function computeClaimNames(pod: Pod, { extendedResources }: ClaimRules): readonly ClaimName[] {
  const named = (pod.spec.resourceClaims ?? []).map((claim): ClaimName => {
    const { name: podClaim, resourceClaimName, resourceClaimTemplateName } = claim
    if (resourceClaimName !== undefined) return { kind: 'claim', podClaim, name: resourceClaimName, isOwned: false }
    if (resourceClaimTemplateName !== undefined) return nameFromTemplate(pod, podClaim)
    const why = `spec.resourceClaims "${podClaim}" names neither a ResourceClaim nor a ResourceClaimTemplate`
    return { kind: 'fault', podClaim, why }
  })
  const extended = extendedResources ? pod.status?.extendedResourceClaimStatus?.resourceClaimName : undefined
  if (extended === undefined) return named
  return [...named, { kind: 'claim', podClaim: undefined, name: extended, isOwned: false }]
}

/** The controller that makes claims from templates says in the pod's status which one it made. */
function nameFromTemplate(pod: Pod, podClaim: string): ClaimName {
  const made = pod.status?.resourceClaimStatuses?.find(({ name }) => name === podClaim)
  if (made === undefined)
    return { kind: 'fault', podClaim, why: `the ResourceClaim for "${podClaim}" has not been made yet` }
  const { resourceClaimName: name } = made
  return name === undefined ? { kind: 'none', podClaim } : { kind: 'claim', podClaim, name, isOwned: true }
}

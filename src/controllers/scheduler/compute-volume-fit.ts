import type { PersistentVolume, PersistentVolumeClaim, Volume } from '../../model/generated/core-v1.ts'
import { matchesNodeSelector } from '../../model/pod/matching/matches-node-selector.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { claimNameOf, claimNamesOf, isClaimOfPod } from '../../model/storage/claims-of-pod.ts'
import { computeVolumeBinding } from '../../model/storage/compute-volume-binding.ts'
import { classNameOf, NO_PROVISIONER, waitsForConsumer } from '../../model/storage/storage-classes.ts'
import type { NodePlace, Unfit } from './cluster-view.ts'

/** A claim that gets its volume when its pod gets the node. */
export interface ClaimToBind {
  readonly claim: PersistentVolumeClaim
  /** The volume that it gets; undefined when one is to be made. */
  readonly volume: PersistentVolume | undefined
}

/** Why a pod cannot have its volumes on any node. */
export interface ClaimProblem {
  readonly message: string
  /** Where the API has the claim or the volume that was not found; undefined when something else is wrong. */
  readonly missing?: string
}

const ALONE = 'ReadWriteOncePod'

/** What is wrong with the claims of a pod on every node there could be; undefined when nothing is. */
export function computeClaimProblem(
  pod: Pod,
  place: Pick<NodePlace, 'claims' | 'volumes' | 'storageClasses'>,
): ClaimProblem | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    if (name === undefined) continue
    const claim = findClaim(pod, name, place.claims)
    const problem =
      claim === undefined ? withoutClaim(pod, volume, name) : computeProblemOf(pod, { volume, claim }, place)
    if (problem !== undefined) return problem
  }
  return undefined
}

function withoutClaim({ metadata }: Pod, { ephemeral }: Volume, name: string): ClaimProblem {
  const message =
    ephemeral === undefined
      ? `persistentvolumeclaim "${name}" not found`
      : `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
  return { message, missing: `/api/v1/namespaces/${metadata.namespace}/persistentvolumeclaims/${name}` }
}

function computeProblemOf(
  pod: Pod,
  { volume, claim }: { readonly volume: Volume; readonly claim: PersistentVolumeClaim },
  place: Pick<NodePlace, 'volumes' | 'storageClasses'>,
): ClaimProblem | undefined {
  const { name = '', deletionTimestamp } = claim.metadata ?? {}
  const { volumeName = '' } = claim.spec ?? {}
  const lost = `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${volumeName}"`
  if (deletionTimestamp !== undefined) return { message: `persistentvolumeclaim "${name}" is being deleted` }
  if (claim.status?.phase === 'Lost') return { message: lost }
  if (volume.ephemeral !== undefined && !isClaimOfPod(claim, pod)) {
    const { namespace, name: podName } = pod.metadata
    return { message: `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)` }
  }
  if (volumeName === '' || claim.status?.phase === 'Pending')
    return isDelayed(claim, place) ? undefined : { message: 'pod has unbound immediate PersistentVolumeClaims' }
  return place.volumes.some(({ metadata }) => metadata?.name === volumeName)
    ? undefined
    : { message: lost, missing: `/api/v1/persistentvolumes/${volumeName}` }
}

/** Whether a claim gets its volume only when a pod needs it; one that asks for a certain volume does not wait. */
function isDelayed(claim: PersistentVolumeClaim, { storageClasses }: Pick<NodePlace, 'storageClasses'>): boolean {
  const name = classNameOf(claim)
  const storageClass = storageClasses.find(({ metadata }) => metadata?.name === name)
  return !claim.spec?.volumeName && waitsForConsumer(storageClass)
}

/** Why the volumes of a pod keep it from the node. */
export function computeVolumeFit(pod: Pod, place: NodePlace): Unfit | undefined {
  const { present, claims, volumes } = place
  const used = claimNamesOf(pod).flatMap((name) => findClaim(pod, name, claims) ?? [])
  const alone = used.filter(({ spec }) => spec?.accessModes?.includes(ALONE))
  if (alone.some((claim) => present.some((other) => uses(other, claim)))) {
    const why = `PersistentVolumeClaim with ${ALONE} access mode already in-use by another pod`
    return { reasons: [`node(s) unavailable due to ${why}`], isUpToPods: true }
  }
  const isElsewhere = used.some(({ spec: claim }) => {
    const bound = volumes.find(({ metadata }) => metadata?.name === claim?.volumeName)
    return bound !== undefined && !isHere(bound, place)
  })
  if (isElsewhere) return { reasons: ["node(s) didn't match PersistentVolume's node affinity"], isUpToPods: false }
  const hasNone = computeClaimsToBind(pod, place).some(
    ({ claim, volume }) => volume === undefined && !isProvisioned(claim, place),
  )
  return hasNone
    ? { reasons: ["node(s) didn't find available persistent volumes to bind"], isUpToPods: false }
    : undefined
}

/** The claims of a pod that waited for it, each with a volume that is there, is on the node and is free. */
export function computeClaimsToBind(pod: Pod, place: NodePlace): readonly ClaimToBind[] {
  const taken = new Set<PersistentVolume>()
  return claimNamesOf(pod).flatMap((name) => {
    const claim = findClaim(pod, name, place.claims)
    if (claim === undefined || claim.status?.phase !== 'Pending' || !isDelayed(claim, place)) return []
    const free = place.volumes.filter((each) => !taken.has(each) && isHere(each, place))
    const volume = computeVolumeBinding(claim, free)
    if (volume !== undefined) taken.add(volume)
    return [{ claim, volume }]
  })
}

function isHere({ spec }: PersistentVolume, { node }: NodePlace): boolean {
  const required = spec?.nodeAffinity?.required
  const selectable = { name: node.metadata?.name ?? '', labels: node.metadata?.labels ?? {} }
  return required === undefined || matchesNodeSelector(required, selectable)
}

function isProvisioned(claim: PersistentVolumeClaim, { storageClasses }: NodePlace): boolean {
  const name = classNameOf(claim)
  const storageClass = storageClasses.find(({ metadata }) => metadata?.name === name)
  return storageClass !== undefined && storageClass.provisioner !== NO_PROVISIONER
}

function findClaim(
  { metadata }: Pod,
  name: string,
  claims: readonly PersistentVolumeClaim[],
): PersistentVolumeClaim | undefined {
  return claims.find((claim) => claim.metadata?.name === name && claim.metadata.namespace === metadata.namespace)
}

function uses(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return pod.metadata.namespace === metadata?.namespace && claimNamesOf(pod).includes(metadata.name ?? '')
}

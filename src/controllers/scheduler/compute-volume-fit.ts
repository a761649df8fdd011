import type { PersistentVolumeClaim, Volume } from '../../model/generated/core-v1.ts'
import { matchesNodeSelector } from '../../model/pod/matching/matches-node-selector.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Place, Unfit } from './cluster-view.ts'

const ALONE = 'ReadWriteOncePod'

/** What is wrong with the claims of a pod on every node there could be; undefined when nothing is. */
export function computeClaimProblem(pod: Pod, place: Pick<Place, 'claims' | 'volumes'>): string | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    if (name === undefined) continue
    const claim = findClaim(pod, name, place.claims)
    if (claim === undefined)
      return volume.ephemeral === undefined
        ? `persistentvolumeclaim "${name}" not found`
        : `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
    if (claim.metadata?.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`
    const { volumeName } = claim.spec ?? {}
    if (!volumeName || claim.status?.phase === 'Pending') return 'pod has unbound immediate PersistentVolumeClaims'
    if (!place.volumes.some(({ metadata }) => metadata?.name === volumeName))
      return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${volumeName}"`
  }
  return undefined
}

/** Why the volumes of a pod keep it from the node. */
export function computeVolumeFit(pod: Pod, { node, present, claims, volumes }: Place): Unfit | undefined {
  const used = (pod.spec.volumes ?? []).flatMap((volume) => findClaim(pod, claimNameOf(pod, volume), claims) ?? [])
  const alone = used.filter(({ spec }) => spec?.accessModes?.includes(ALONE))
  if (alone.some((claim) => present.some((other) => uses(other, claim)))) {
    const why = `PersistentVolumeClaim with ${ALONE} access mode already in-use by another pod`
    return { reasons: [`node(s) unavailable due to ${why}`], isUpToPods: true }
  }
  const selectable = { name: node.metadata?.name ?? '', labels: node.metadata?.labels ?? {} }
  const isElsewhere = used.some(({ spec: claim }) => {
    const required = volumes.find(({ metadata }) => metadata?.name === claim?.volumeName)?.spec?.nodeAffinity?.required
    return required !== undefined && !matchesNodeSelector(required, selectable)
  })
  return isElsewhere
    ? { reasons: ["node(s) didn't match PersistentVolume's node affinity"], isUpToPods: false }
    : undefined
}

function claimNameOf({ metadata }: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  return ephemeral === undefined ? persistentVolumeClaim?.claimName : `${metadata.name}-${name}`
}

function findClaim(
  { metadata }: Pod,
  name: string | undefined,
  claims: readonly PersistentVolumeClaim[],
): PersistentVolumeClaim | undefined {
  if (name === undefined) return undefined
  return claims.find((claim) => claim.metadata?.name === name && claim.metadata.namespace === metadata.namespace)
}

function uses(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return (
    pod.metadata.namespace === metadata?.namespace &&
    (pod.spec.volumes ?? []).some((volume) => claimNameOf(pod, volume) === metadata.name)
  )
}

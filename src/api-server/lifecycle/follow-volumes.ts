import type { PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import { CLAIM_PROTECTION, VOLUME_PROTECTION } from '../kinds/rules/volume-rules.ts'
import type { ObjectIn } from '../kinds/stored-types.ts'
import type { StoreKey, ObjectOf } from '../store/api-object.ts'
import { isChangeOf, removeFinalizer } from './change-set.ts'
import type { Change, ChangeSet } from './change-set.ts'
import { computeVolumeBinding } from './compute-volume-binding.ts'

const VOLUMES = 'persistentvolumes'
const CLAIMS = 'persistentvolumeclaims'
const ENDED = ['Succeeded', 'Failed']

type Volumes = typeof VOLUMES
type Claims = typeof CLAIMS

/** Binds claims to volumes, and removes those that are deleted and no longer used. */
export function followVolumes(changes: ChangeSet, change: Change): void {
  if (isChangeOf(change, 'pods')) followPod(changes, change)
  else if (isChangeOf(change, CLAIMS)) followClaim(changes, change)
  else if (isChangeOf(change, VOLUMES)) followVolume(changes, change)
}

function followPod(changes: ChangeSet, { before, after }: Change<'pods'>): void {
  const ended = after === undefined || isEnded(after) ? (after ?? before) : undefined
  if (ended === undefined) return
  for (const name of claimNames(ended)) {
    releaseClaim(changes, { resource: CLAIMS, namespace: ended.metadata.namespace ?? '', name })
  }
}

function followClaim(changes: ChangeSet, { key, before, after }: Change<Claims>): void {
  if (after !== undefined) {
    bindClaim(changes, after)
    releaseClaim(changes, key)
    return
  }
  const name = before?.spec?.volumeName ?? ''
  const volume = changes.objects.get({ resource: VOLUMES, namespace: '', name })
  // Nothing here can empty a volume, so it is kept as it is, whatever its policy, until a user deletes it.
  if (volume?.status?.phase === 'Bound') setPhase(changes, VOLUMES, volume, 'Released')
}

function followVolume(changes: ChangeSet, { key, before, after }: Change<Volumes>): void {
  if (after === undefined) {
    const { namespace = '', name = '' } = before?.spec?.claimRef ?? {}
    const claim = changes.objects.get({ resource: CLAIMS, namespace, name })
    if (claim?.status?.phase === 'Bound') setPhase(changes, CLAIMS, claim, 'Lost')
    return
  }
  if (after.status?.phase === 'Pending') setPhase(changes, VOLUMES, after, 'Available')
  for (const claim of changes.objects.list(CLAIMS)) bindClaim(changes, claim)
  releaseVolume(changes, key)
}

function bindClaim(changes: ChangeSet, claim: ObjectOf<PersistentVolumeClaim>): void {
  if (claim.status?.phase !== 'Pending' || claim.metadata.deletionTimestamp !== undefined) return
  const volume = computeVolumeBinding(claim, changes.objects.list(VOLUMES))
  if (volume === undefined) return
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion }
  const bound = { 'pv.kubernetes.io/bound-by-controller': 'yes' }
  changes.put(keyOf(VOLUMES, volume), {
    ...volume,
    metadata: { ...volume.metadata, annotations: { ...volume.metadata.annotations, ...bound } },
    spec: { ...volume.spec, claimRef },
    status: { ...volume.status, phase: 'Bound' },
  })
  const annotations = { ...claim.metadata.annotations, ...bound, 'pv.kubernetes.io/bind-completed': 'yes' }
  changes.put(keyOf(CLAIMS, claim), {
    ...claim,
    metadata: { ...claim.metadata, annotations },
    spec: { ...claim.spec, volumeName: volume.metadata.name },
    status: { phase: 'Bound', accessModes: volume.spec?.accessModes, capacity: volume.spec?.capacity },
  })
}

/** A deleted claim is removed when no pod that may still run uses it. */
function releaseClaim(changes: ChangeSet, key: StoreKey<Claims>): void {
  const claim = changes.objects.get(key)
  if (claim?.metadata.deletionTimestamp === undefined) return
  const isUsed = changes.objects
    .list('pods', key.namespace)
    .some((pod) => !isEnded(pod) && claimNames(pod).includes(key.name))
  if (!isUsed) removeFinalizer(changes, key, CLAIM_PROTECTION)
}

/** A deleted volume is removed when it is not bound. */
function releaseVolume(changes: ChangeSet, key: StoreKey<Volumes>): void {
  const volume = changes.objects.get(key)
  if (volume?.metadata.deletionTimestamp === undefined || volume.status?.phase === 'Bound') return
  removeFinalizer(changes, key, VOLUME_PROTECTION)
}

function setPhase<R extends Volumes | Claims>(
  changes: ChangeSet,
  resource: R,
  object: ObjectIn<R>,
  phase: string,
): void {
  changes.put(keyOf(resource, object), { ...object, status: { ...object.status, phase } })
}

function keyOf<R extends string>(resource: R, { metadata }: ObjectIn<R>): StoreKey<R> {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}

function isEnded({ status }: Pod): boolean {
  return ENDED.includes(status?.phase ?? '')
}

function claimNames({ metadata, spec }: ObjectOf<Pod>): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName]
    return ephemeral === undefined ? [] : [`${metadata.name}-${name}`]
  })
}

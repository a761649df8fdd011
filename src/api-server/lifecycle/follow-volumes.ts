import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import { CLAIM_PROTECTION, VOLUME_PROTECTION } from '../kinds/rules/volume-rules.ts'
import type { ApiObject, ObjectKey } from '../store/api-object.ts'
import type { Change, ChangeSet } from './change-set.ts'
import { computeVolumeBinding } from './compute-volume-binding.ts'

const VOLUMES = 'persistentvolumes'
const CLAIMS = 'persistentvolumeclaims'
const ENDED = ['Succeeded', 'Failed']

/** Binds claims to volumes, and lets those go that are deleted and no longer used. */
export function followVolumes(changes: ChangeSet, change: Change): void {
  const { key, before, after } = change
  if (key.resource === 'pods') {
    const pod = after ?? before
    if (pod !== undefined && (after === undefined || ENDED.includes(phaseOf(after)))) releaseClaimsOf(changes, pod)
  } else if (key.resource === CLAIMS) followClaim(changes, change)
  else if (key.resource === VOLUMES) followVolume(changes, change)
}

function followClaim(changes: ChangeSet, { key, before, after }: Change): void {
  if (after !== undefined) {
    bindClaim(changes, after)
    releaseClaim(changes, key)
    return
  }
  const name = (before as unknown as PersistentVolumeClaim).spec?.volumeName ?? ''
  const volume = changes.get({ resource: VOLUMES, namespace: '', name })?.object
  // Nobody here can empty a volume, so it is kept as it is, whatever its policy, until someone deletes it.
  if (volume !== undefined && phaseOf(volume) === 'Bound') setPhase(changes, VOLUMES, volume, 'Released')
}

function followVolume(changes: ChangeSet, { key, before, after }: Change): void {
  if (after === undefined) {
    const reference = (before as unknown as PersistentVolume).spec?.claimRef
    const claimKey = { resource: CLAIMS, namespace: reference?.namespace ?? '', name: reference?.name ?? '' }
    const claim = changes.get(claimKey)?.object
    if (claim !== undefined && phaseOf(claim) === 'Bound') setPhase(changes, CLAIMS, claim, 'Lost')
    return
  }
  if (phaseOf(after) === 'Pending') setPhase(changes, VOLUMES, after, 'Available')
  for (const { object: claim } of changes.view.list({ resource: CLAIMS })) bindClaim(changes, claim)
  releaseVolume(changes, key)
}

function bindClaim(changes: ChangeSet, object: ApiObject): void {
  if (phaseOf(object) !== 'Pending' || object.metadata.deletionTimestamp !== undefined) return
  const claim = object as unknown as PersistentVolumeClaim
  const volumes = changes.view.list({ resource: VOLUMES }).map((each) => each.object as unknown as PersistentVolume)
  const volume = computeVolumeBinding(claim, volumes)
  if (volume === undefined) return
  const { namespace, name, uid, resourceVersion } = object.metadata
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion }
  const bound = { 'pv.kubernetes.io/bound-by-controller': 'yes' }
  const volumeObject = volume as unknown as ApiObject
  changes.put(keyOf(VOLUMES, volumeObject), {
    ...volumeObject,
    metadata: { ...volumeObject.metadata, annotations: { ...volumeObject.metadata.annotations, ...bound } },
    spec: { ...volume.spec, claimRef },
    status: { ...volume.status, phase: 'Bound' },
  })
  const annotations = { ...object.metadata.annotations, ...bound, 'pv.kubernetes.io/bind-completed': 'yes' }
  changes.put(keyOf(CLAIMS, object), {
    ...object,
    metadata: { ...object.metadata, annotations },
    spec: { ...claim.spec, volumeName: volume.metadata?.name },
    status: { phase: 'Bound', accessModes: volume.spec?.accessModes, capacity: volume.spec?.capacity },
  })
}

function releaseClaimsOf(changes: ChangeSet, pod: ApiObject): void {
  for (const name of claimNames(pod)) {
    releaseClaim(changes, { resource: CLAIMS, namespace: pod.metadata.namespace ?? '', name })
  }
}

/** A deleted claim goes when no pod that may still run uses it. */
function releaseClaim(changes: ChangeSet, key: ObjectKey): void {
  const claim = changes.get(key)?.object
  if (claim?.metadata.deletionTimestamp === undefined) return
  const isUsed = changes.view
    .list({ resource: 'pods', namespace: key.namespace })
    .some(({ object }) => !ENDED.includes(phaseOf(object)) && claimNames(object).includes(key.name))
  if (!isUsed) withoutFinalizer(changes, key, claim, CLAIM_PROTECTION)
}

/** A deleted volume goes when it is not bound. */
function releaseVolume(changes: ChangeSet, key: ObjectKey): void {
  const volume = changes.get(key)?.object
  if (volume?.metadata.deletionTimestamp === undefined || phaseOf(volume) === 'Bound') return
  withoutFinalizer(changes, key, volume, VOLUME_PROTECTION)
}

function withoutFinalizer(changes: ChangeSet, key: ObjectKey, object: ApiObject, finalizer: string): void {
  if (!object.metadata.finalizers?.includes(finalizer)) return
  const finalizers = object.metadata.finalizers.filter((each) => each !== finalizer)
  changes.put(key, { ...object, metadata: { ...object.metadata, finalizers } })
}

function setPhase(changes: ChangeSet, resource: string, object: ApiObject, phase: string): void {
  changes.put(keyOf(resource, object), { ...object, status: { ...(object['status'] as object), phase } })
}

function keyOf(resource: string, { metadata }: ApiObject): ObjectKey {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}

function phaseOf(object: ApiObject): string {
  return (object['status'] as { phase?: string } | undefined)?.phase ?? ''
}

function claimNames(pod: ApiObject): readonly string[] {
  return ((pod as unknown as Pod).spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName]
    return ephemeral === undefined ? [] : [`${pod.metadata.name}-${name}`]
  })
}

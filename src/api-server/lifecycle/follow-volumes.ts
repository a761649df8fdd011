import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import { claimNameOf, claimNamesOf } from '../../model/storage/claims-of-pod.ts'
import { computeVolumeBinding } from '../../model/storage/compute-volume-binding.ts'
import { classNameOf, findDefaultClass, SELECTED_NODE, waitsForConsumer } from '../../model/storage/storage-classes.ts'
import { CLAIM_PROTECTION, VOLUME_PROTECTION, withClass } from '../kinds/rules/volume-rules.ts'
import type { ObjectIn } from '../kinds/stored-types.ts'
import type { StoreKey, ObjectOf } from '../store/api-object.ts'
import { isChangeOf, removeFinalizer } from './change-set.ts'
import type { Change, ChangeSet } from './change-set.ts'

const VOLUMES = 'persistentvolumes'
const CLAIMS = 'persistentvolumeclaims'
const CLASSES = 'storageclasses.storage.k8s.io'
const BOUND_BY_CONTROLLER = { 'pv.kubernetes.io/bound-by-controller': 'yes' }
const BIND_COMPLETED = { 'pv.kubernetes.io/bind-completed': 'yes' }

type Volumes = typeof VOLUMES
type Claims = typeof CLAIMS

/** Binds claims to volumes, and removes those that are deleted and no longer used. */
export function followVolumes(changes: ChangeSet, change: Change): void {
  if (isChangeOf(change, 'pods')) followPod(changes, change)
  else if (isChangeOf(change, CLAIMS)) followClaim(changes, change)
  else if (isChangeOf(change, VOLUMES)) followVolume(changes, change)
  else if (isChangeOf(change, CLASSES) && change.after !== undefined) fillClass(changes)
}

function followPod(changes: ChangeSet, { before, after }: Change<'pods'>): void {
  const gone = after === undefined || isShutDown(after) ? (after ?? before) : undefined
  if (gone === undefined) return
  for (const name of claimNamesOf(gone)) {
    releaseClaim(changes, { resource: CLAIMS, namespace: gone.metadata.namespace ?? '', name })
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
  // What becomes of its data is up to the one who made it; otherwise it is kept as it is until a user deletes it.
  if (volume?.status?.phase === 'Bound' && volume.spec?.claimRef?.uid === before?.metadata.uid)
    setPhase(changes, VOLUMES, volume, 'Released')
}

function followVolume(changes: ChangeSet, { key, before, after }: Change<Volumes>): void {
  if (after === undefined) {
    const { namespace = '', name = '' } = before?.spec?.claimRef ?? {}
    const claim = changes.objects.get({ resource: CLAIMS, namespace, name })
    if (claim?.status?.phase === 'Bound' && claim.spec?.volumeName === key.name)
      setPhase(changes, CLAIMS, claim, 'Lost')
    return
  }
  if (restoreReference(changes, after)) return
  const phase = computePhase(changes, after)
  if (phase !== after.status?.phase) return setPhase(changes, VOLUMES, after, phase)
  for (const claim of changes.objects.list(CLAIMS)) bindClaim(changes, claim)
  releaseVolume(changes, key)
}

/** A volume that lost its claim, while the claim has it, gets it back. */
function restoreReference(changes: ChangeSet, volume: ObjectOf<PersistentVolume>): boolean {
  if (volume.spec?.claimRef?.uid) return false
  const { name } = volume.metadata
  const claim = changes.objects
    .list(CLAIMS)
    .find(({ spec, status }) => spec?.volumeName === name && status?.phase === 'Bound')
  if (claim === undefined) return false
  changes.put(keyOf(VOLUMES, volume), {
    ...volume,
    spec: { ...volume.spec, claimRef: referenceTo(claim) },
    status: { ...volume.status, phase: 'Bound' },
  })
  return true
}

/** The phase of a volume that was not bound just now: free, or used before. */
function computePhase(changes: ChangeSet, { spec, status }: ObjectOf<PersistentVolume>): string {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {}
  if (!uid) return 'Available'
  const phase = status?.phase ?? 'Pending'
  const claim = changes.objects.get({ resource: CLAIMS, namespace, name })
  if (claim?.metadata.uid === uid) return phase === 'Pending' ? 'Available' : phase
  return phase === 'Failed' ? phase : 'Released'
}

function referenceTo({ metadata }: ObjectOf<PersistentVolumeClaim>) {
  const { namespace, name, uid, resourceVersion } = metadata
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion }
}

/** Claims that came before the default class get it, as long as they have no volume. */
function fillClass(changes: ChangeSet): void {
  const name = findDefaultClass(changes.objects.list(CLASSES))
  for (const claim of changes.objects.list(CLAIMS)) {
    if (claim.status?.phase !== 'Pending' || claim.spec?.volumeName) continue
    const filled = withClass(claim, name)
    if (filled !== claim) changes.put(keyOf(CLAIMS, claim), filled)
  }
}

function bindClaim(changes: ChangeSet, claim: ObjectOf<PersistentVolumeClaim>): void {
  if (claim.status?.phase !== 'Pending' || claim.metadata.deletionTimestamp !== undefined) return
  const storageClass = changes.objects.get({ resource: CLASSES, namespace: '', name: classNameOf(claim) ?? '' })
  const isDelayed = waitsForConsumer(storageClass) && claim.metadata.annotations?.[SELECTED_NODE] === undefined
  const volume = computeVolumeBinding(claim, changes.objects.list(VOLUMES), isDelayed)
  if (volume === undefined) return
  // Who named the other, a user or a provisioner, chose it; otherwise we did.
  const isNamed = volume.spec?.claimRef !== undefined
  const isChosen = !claim.spec?.volumeName
  changes.put(keyOf(VOLUMES, volume), {
    ...volume,
    metadata: isNamed ? volume.metadata : withAnnotations(volume, BOUND_BY_CONTROLLER),
    spec: { ...volume.spec, claimRef: referenceTo(claim) },
    status: { ...volume.status, phase: 'Bound' },
  })
  changes.put(keyOf(CLAIMS, claim), {
    ...claim,
    metadata: withAnnotations(claim, { ...(isChosen && BOUND_BY_CONTROLLER), ...BIND_COMPLETED }),
    spec: { ...claim.spec, volumeName: volume.metadata.name },
    status: { phase: 'Bound', accessModes: volume.spec?.accessModes, capacity: volume.spec?.capacity },
  })
}

function withAnnotations({ metadata }: ObjectOf<PersistentVolumeClaim>, added: Readonly<Record<string, string>>) {
  return { ...metadata, annotations: { ...metadata.annotations, ...added } }
}

/** A deleted claim is removed when no pod on a node uses it. One that has ended still does, until it is deleted. */
function releaseClaim(changes: ChangeSet, key: StoreKey<Claims>): void {
  const claim = changes.objects.get(key)
  if (claim?.metadata.deletionTimestamp === undefined) return
  const isUsed = changes.objects.list('pods', key.namespace).some((pod) => usesClaim(pod, key.name))
  if (!isUsed) removeFinalizer(changes, key, CLAIM_PROTECTION)
}

/** No agent starts a pod whose claim is being deleted, so a pod without a node holds none. */
function usesClaim(pod: ObjectOf<Pod>, name: string): boolean {
  if (!pod.spec?.nodeName) return false
  return (pod.spec.volumes ?? []).some(
    (volume) => claimNameOf(pod, volume) === name && (volume.ephemeral === undefined || !isShutDown(pod)),
  )
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

/** Its agent is done with it; it only waits for its finalizers. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
}

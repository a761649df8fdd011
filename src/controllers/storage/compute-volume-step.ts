import type { PersistentVolume } from '../../model/generated/core-v1.ts'
import { PROVISIONED_BY } from '../../model/storage/storage-classes.ts'
import type { Live } from '../engine/live-object.ts'
import { DATA_FINALIZER, isLocal } from './local-provisioner.ts'

/** What is to be done with a volume. */
export type VolumeStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'set finalizers'; readonly finalizers: readonly string[] }
  /** Its data go, then itself. */
  | { readonly kind: 'delete' }
  /** It cannot be what its policy says. */
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }

const NOTHING: VolumeStep = { kind: 'nothing' }
const UNUSED = ['Released', 'Failed']

/** The next step for a volume; root is where the folders of volumes are. */
export function computeVolumeStep(volume: Live<PersistentVolume>, root: string): VolumeStep {
  const { metadata, spec, status } = volume
  const policy = spec.persistentVolumeReclaimPolicy ?? 'Retain'
  if (!isLocal(volume)) return computeForeign(volume, policy)
  const finalizers = metadata.finalizers ?? []
  const isLeaving = metadata.deletionTimestamp !== undefined
  const isUnused = UNUSED.includes(status?.phase ?? '') || (isLeaving && status?.phase !== 'Bound')
  if (policy === 'Delete' && isUnused && (!isLeaving || finalizers.includes(DATA_FINALIZER))) {
    const path = spec.local?.path ?? ''
    if (path === `${root}/${metadata.name}`) return { kind: 'delete' }
    // A user may write any path into a volume; only folders of our own are ever removed.
    const message = `the path "${path}" is not the folder of this volume, "${root}/${metadata.name}"; nothing is removed`
    return { kind: 'fail', reason: 'VolumeFailedDelete', message }
  }
  const isHeld = finalizers.includes(DATA_FINALIZER)
  if (policy === 'Delete' && !isHeld && !isLeaving)
    return { kind: 'set finalizers', finalizers: [...finalizers, DATA_FINALIZER] }
  if (policy !== 'Delete' && isHeld)
    return { kind: 'set finalizers', finalizers: finalizers.filter((each) => each !== DATA_FINALIZER) }
  return NOTHING
}

/** Nothing here can delete or empty what others have made. */
function computeForeign({ metadata, status }: Live<PersistentVolume>, policy: string): VolumeStep {
  if (status?.phase !== 'Released' || metadata.annotations?.[PROVISIONED_BY] !== undefined) return NOTHING
  if (policy === 'Delete') {
    const message = `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`
    return { kind: 'fail', reason: 'VolumeFailedDelete', message }
  }
  if (policy === 'Recycle')
    return { kind: 'fail', reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' }
  return NOTHING
}

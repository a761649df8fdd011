import type { PersistentVolumeSpec, Volume } from '../../model/generated/core-v1.ts'
import type { VolumeSource } from './desired-volume.ts'

const REMOVED = 'Kubernetes no longer has this kind of volume'

type Kind = Exclude<keyof Volume | keyof PersistentVolumeSpec, 'name'>

const REASONS: Readonly<Partial<Record<Kind, string>>> = {
  gitRepo: 'Kubernetes has switched this kind of volume off; clone into an emptyDir in an init container instead',
  cephfs: REMOVED,
  flocker: REMOVED,
  glusterfs: REMOVED,
  photonPersistentDisk: REMOVED,
  quobyte: REMOVED,
  rbd: REMOVED,
  scaleIO: REMOVED,
  storageos: REMOVED,
  flexVolume: 'drivers of this kind are not run here; use a CSI driver instead',
}

/** Why no kind mounts this volume, for the event of its pod. */
export function rejectVolume(source: VolumeSource): string {
  const named = source.kind === 'inline' ? source.volume : (source.volume.spec ?? {})
  const name = source.kind === 'inline' ? source.volume.name : (source.volume.metadata?.name ?? '')
  const given = new Set(Object.entries(named).flatMap(([field, value]) => (value === undefined ? [] : [field])))
  const [kind, reason] = Object.entries(REASONS).find(([field]) => given.has(field)) ?? []
  if (kind === undefined || reason === undefined)
    return `Cannot use volume "${name}": it names no kind that is known here`
  return `Cannot use volume "${name}" of kind ${kind}: ${reason}`
}

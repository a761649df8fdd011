import type { CSIPersistentVolumeSource, PersistentVolume, Volume } from '../../../model/generated/core-v1.ts'

/** A volume of a pod itself, as its driver would have it in a persistent volume. */
interface InlineDisk {
  readonly csi: CSIPersistentVolumeSource
  readonly accessMode: string
  /** Names the disk, not the pod's volume: pods that use the same disk share it. */
  readonly name: string
}

/** A kind of volume that was part of Kubernetes before CSI, in the words of the driver that serves it now. */
export interface InTreePlugin {
  /** The volume with csi in place of the old source; undefined for one of another kind. */
  readonly persistent: (volume: PersistentVolume) => PersistentVolume | undefined
  readonly inline: (volume: Volume, namespace: string) => InlineDisk | undefined
}

type OldSource =
  | 'awsElasticBlockStore'
  | 'azureDisk'
  | 'azureFile'
  | 'cinder'
  | 'gcePersistentDisk'
  | 'portworxVolume'
  | 'vsphereVolume'

/** The volume with another source. */
export function withCsi(volume: PersistentVolume, old: OldSource, csi: CSIPersistentVolumeSource): PersistentVolume {
  const { [old]: _, ...spec } = volume.spec ?? {}
  return { ...volume, spec: { ...spec, csi } }
}

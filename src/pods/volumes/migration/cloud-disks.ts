import type {
  AWSElasticBlockStoreVolumeSource,
  CSIPersistentVolumeSource,
  CinderPersistentVolumeSource,
  CinderVolumeSource,
  GCEPersistentDiskVolumeSource,
  PersistentVolume,
  PortworxVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from '../../../model/generated/core-v1.ts'
import { withCsi } from './in-tree-plugin.ts'
import type { InTreePlugin } from './in-tree-plugin.ts'
import { labelledZones, translateZoneAndRegion, translateZones } from './volume-topology.ts'

const EBS = 'ebs.csi.aws.com'
const GCE = 'pd.csi.storage.gke.io'
const CINDER = 'cinder.csi.openstack.org'
const VSPHERE = 'csi.vsphere.vmware.com'
const PORTWORX = 'pxd.portworx.com'

/** Amazon: awsElasticBlockStore. */
export const awsDisks: InTreePlugin = {
  persistent(volume) {
    const disk = volume.spec?.awsElasticBlockStore
    return disk && translateZones(withCsi(volume, 'awsElasticBlockStore', toEbs(disk)), `topology.${EBS}/zone`)
  },
  inline({ awsElasticBlockStore: disk }) {
    const csi = disk && toEbs(disk)
    return csi && { csi, accessMode: 'ReadWriteOnce', name: `${EBS}-${csi.volumeHandle}` }
  },
}

function toEbs({ volumeID, partition = 0, ...disk }: AWSElasticBlockStoreVolumeSource): CSIPersistentVolumeSource {
  const volumeAttributes = { partition: String(partition) }
  return { driver: EBS, volumeHandle: toEbsHandle(volumeID), ...readOnlyFileSystem(disk), volumeAttributes }
}

/** A bare identifier, or an address: aws://<zone>/<identifier>, where the zone may be missing. */
function toEbsHandle(volumeID: string): string {
  if (!volumeID.startsWith('aws://')) return volumeID
  const [, handle = ''] = /^aws:\/\/[^/?#]*\/+(vol-[^/?#]*)\/*(?:[?#].*)?$/.exec(volumeID) ?? []
  if (handle === '') throw new Error(`Invalid format for AWS volume (${volumeID})`)
  return handle
}

/** Google: gcePersistentDisk. */
export const gceDisks: InTreePlugin = {
  persistent(volume) {
    const disk = volume.spec?.gcePersistentDisk
    if (disk === undefined) return undefined
    const csi = toGce(disk, gcePlace(labelledZones(volume)))
    const translated = translateZones(withCsi(volume, 'gcePersistentDisk', csi), 'topology.gke.io/zone')
    const { accessModes } = translated.spec ?? {}
    return { ...translated, spec: { ...translated.spec, accessModes: accessModes && gceAccessModes(accessModes) } }
  },
  inline({ gcePersistentDisk: disk }) {
    if (disk === undefined) return undefined
    const accessMode = disk.readOnly === true ? 'ReadOnlyMany' : 'ReadWriteOnce'
    return { csi: toGce(disk, gcePlace([])), accessMode, name: `${GCE}-${disk.pdName}` }
  },
}

function toGce({ pdName, partition = 0, ...disk }: GCEPersistentDiskVolumeSource, place: string) {
  const volumeAttributes = { partition: partition === 0 ? '' : String(partition) }
  const volumeHandle = `projects/UNSPECIFIED/${place}/disks/${pdName}`
  return { driver: GCE, volumeHandle, ...readOnlyFileSystem(disk), volumeAttributes }
}

/** A disk of several zones belongs to their region; the driver finds out what is not specified. */
function gcePlace(zones: readonly string[]): string {
  if (zones.length < 2) return `zones/${zones[0] ?? 'UNSPECIFIED'}`
  const regions = new Set(
    zones.map((zone) => {
      const [locale, region, ...rest] = zone.split('-')
      if (rest.length === 1) return `${locale}-${region}`
      throw new Error(
        `failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: ${zone}`,
      )
    }),
  )
  if (regions.size !== 1)
    throw new Error(
      `failed to get region from zones: multiple or no regions gotten from zones, got: ${[...regions].join()}`,
    )
  return `regions/${[...regions][0]}`
}

/** The old kind mounted for one node whatever the volume said; its driver takes that word for word. */
function gceAccessModes(modes: readonly string[]): readonly string[] {
  const isForOne = modes.includes('ReadWriteOnce') || modes.includes('ReadWriteMany')
  return !isForOne && modes.includes('ReadOnlyMany') ? ['ReadOnlyMany'] : ['ReadWriteOnce']
}

/** OpenStack: cinder. */
export const cinderDisks: InTreePlugin = {
  persistent(volume) {
    const disk = volume.spec?.cinder
    return disk && translateZones(withCsi(volume, 'cinder', toCinder(disk)), `topology.${CINDER}/zone`)
  },
  inline: ({ cinder: disk }) =>
    disk && { csi: toCinder(disk), accessMode: 'ReadWriteOnce', name: `${CINDER}-${disk.volumeID}` },
}

function toCinder({ volumeID, ...disk }: CinderPersistentVolumeSource | CinderVolumeSource) {
  return { driver: CINDER, volumeHandle: volumeID, ...readOnlyFileSystem(disk), volumeAttributes: {} }
}

/** VMware: vsphereVolume. */
export const vsphereDisks: InTreePlugin = {
  persistent(volume) {
    const disk = volume.spec?.vsphereVolume
    const keys = { zone: 'topology.csi.vmware.com/zone', region: 'topology.csi.vmware.com/region' }
    return disk && translateZoneAndRegion(withCsi(volume, 'vsphereVolume', toVsphere(disk)), keys)
  },
  inline: ({ vsphereVolume: disk }) =>
    disk && { csi: toVsphere(disk), accessMode: 'ReadWriteOnce', name: `${VSPHERE}-${disk.volumePath}` },
}

function toVsphere({ volumePath, fsType = '', storagePolicyName = '' }: VsphereVirtualDiskVolumeSource) {
  const volumeAttributes: Record<string, string> =
    storagePolicyName === '' ? {} : { storagepolicyname: storagePolicyName }
  return { driver: VSPHERE, volumeHandle: volumePath, fsType, volumeAttributes }
}

/** Portworx: portworxVolume. */
export const portworxDisks: InTreePlugin = {
  persistent(volume) {
    const disk = volume.spec?.portworxVolume
    return disk && withCsi(volume, 'portworxVolume', { ...toPortworx(disk), ...portworxSecrets(volume) })
  },
  inline({ portworxVolume: disk }) {
    if (disk === undefined) return undefined
    const accessMode = disk.readOnly === true ? 'ReadOnlyMany' : 'ReadWriteOnce'
    return { csi: toPortworx(disk), accessMode, name: `${PORTWORX}-${disk.volumeID}` }
  },
}

function toPortworx({ volumeID, fsType = '' }: PortworxVolumeSource): CSIPersistentVolumeSource {
  return { driver: PORTWORX, volumeHandle: volumeID, fsType, volumeAttributes: {} }
}

/** One secret for every call, named by annotations. */
function portworxSecrets({ metadata }: PersistentVolume): Partial<CSIPersistentVolumeSource> {
  const name = metadata?.annotations?.['openstorage.io/auth-secret-name']
  const namespace = metadata?.annotations?.['openstorage.io/auth-secret-namespace']
  if (name === undefined || namespace === undefined) return {}
  const secret = { name, namespace }
  return { nodeStageSecretRef: secret, nodePublishSecretRef: secret, nodeExpandSecretRef: secret }
}

function readOnlyFileSystem(disk: { readonly readOnly?: boolean | undefined; readonly fsType?: string | undefined }) {
  return { readOnly: disk.readOnly === true, fsType: disk.fsType ?? '' }
}

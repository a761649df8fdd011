import type {
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CSIPersistentVolumeSource,
} from '../../../model/generated/core-v1.ts'
import { withCsi } from './in-tree-plugin.ts'
import type { InTreePlugin } from './in-tree-plugin.ts'

const MANAGED = 'Managed'
const RESOURCE_GROUP = 'kubernetes.io/azure-file-resource-group'

/** Azure: azureDisk. Only managed disks have a driver. */
export const azureDisks: InTreePlugin = {
  persistent(volume) {
    const disk = volume.spec?.azureDisk
    return disk && withCsi(volume, 'azureDisk', toDisk(disk))
  },
  inline: ({ azureDisk: disk }) => disk && { csi: toDisk(disk), accessMode: 'ReadWriteOnce', name: disk.diskURI },
}

function toDisk(disk: AzureDiskVolumeSource): CSIPersistentVolumeSource {
  const { diskURI, kind = MANAGED, cachingMode = '', fsType, readOnly } = disk
  if (kind.toLowerCase() !== MANAGED.toLowerCase()) throw new Error(`kind(${kind}) is not supported in csi migration`)
  const volumeAttributes: Record<string, string> = {
    kind: MANAGED,
    ...(cachingMode !== '' && { cachingmode: cachingMode }),
    ...(fsType !== undefined && { fstype: fsType }),
  }
  return {
    driver: 'disk.csi.azure.com',
    volumeHandle: diskURI,
    readOnly: readOnly === true,
    fsType: fsType ?? '',
    volumeAttributes,
  }
}

/** Azure: azureFile. */
export const azureFiles: InTreePlugin = {
  persistent(volume) {
    const { azureFile: share, claimRef } = volume.spec ?? {}
    if (share === undefined) return undefined
    const namespace = share.secretNamespace ?? claimRef?.namespace ?? ''
    if (namespace === '') throw new Error('could not find a secret namespace in PersistentVolumeSource or ClaimRef')
    const resourceGroup = volume.metadata?.annotations?.[RESOURCE_GROUP] ?? ''
    return withCsi(volume, 'azureFile', toShare(share, { resourceGroup, name: volume.metadata?.name ?? '', namespace }))
  },
  inline({ name, azureFile: share }, namespace) {
    if (share === undefined) return undefined
    const csi = toShare(share, { resourceGroup: '', name, namespace })
    return { csi, accessMode: 'ReadWriteMany', name: csi.volumeHandle }
  },
}

function toShare(
  { secretName, shareName, readOnly }: AzureFileVolumeSource,
  { resourceGroup, name, namespace }: Readonly<Record<'resourceGroup' | 'name' | 'namespace', string>>,
): CSIPersistentVolumeSource {
  // Secrets that were made by hand are named after the account by their makers.
  const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName
  return {
    driver: 'file.csi.azure.com',
    volumeHandle: [resourceGroup, account, shareName, name, namespace].join('#'),
    readOnly: readOnly === true,
    volumeAttributes: { sharename: shareName },
    nodeStageSecretRef: { name: secretName, namespace },
  }
}

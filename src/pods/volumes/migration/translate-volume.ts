import type { PersistentVolume, Volume } from '../../../model/generated/core-v1.ts'
import type { MigratedPlugin } from '../../../model/pod/migrated-plugins.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { azureDisks, azureFiles } from './azure-volumes.ts'
import { awsDisks, cinderDisks, gceDisks, portworxDisks, vsphereDisks } from './cloud-disks.ts'
import type { InTreePlugin } from './in-tree-plugin.ts'

/** Every kind that the node says is left to drivers. */
const PLUGINS: Readonly<Record<MigratedPlugin, InTreePlugin>> = {
  'kubernetes.io/aws-ebs': awsDisks,
  'kubernetes.io/azure-disk': azureDisks,
  'kubernetes.io/azure-file': azureFiles,
  'kubernetes.io/cinder': cinderDisks,
  'kubernetes.io/gce-pd': gceDisks,
  'kubernetes.io/portworx-volume': portworxDisks,
  'kubernetes.io/vsphere-volume': vsphereDisks,
}

/** A persistent volume of an old kind as its CSI driver takes it; undefined for one that needs no translation. */
export function translateVolume(volume: PersistentVolume): PersistentVolume | undefined {
  return translated(({ persistent }) => persistent(volume))
}

/**
 * A volume of a pod itself, of an old kind, as a persistent volume: its driver attaches and stages it like any other. Undefined for one that needs no
 * translation.
 */
export function translateInlineVolume(volume: Volume, namespace: string): PersistentVolume | undefined {
  const disk = translated(({ inline }) => inline(volume, namespace))
  if (disk === undefined) return undefined
  const { name, accessMode, csi } = disk
  return { metadata: { name }, spec: { csi, accessModes: [accessMode], volumeMode: 'Filesystem' } }
}

function translated<T>(translate: (plugin: InTreePlugin) => T | undefined): T | undefined {
  try {
    for (const plugin of Object.values(PLUGINS)) {
      const found = translate(plugin)
      if (found !== undefined) return found
    }
    return undefined
  } catch (error) {
    throw new Error(`failed to translate in-tree pv to CSI: ${errorMessage(error)}`, { cause: error })
  }
}

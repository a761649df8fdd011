import { createHash } from 'node:crypto'

export const CSI_PLUGIN = 'kubernetes.io/csi'

/** What the cluster calls a volume in the status of a node. */
export function csiVolumeName(driver: string, handle: string): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`
}

/** The name of the VolumeAttachment that a volume has on a node. */
export function csiAttachmentName(volume: { readonly driver: string; readonly handle: string }, node: string): string {
  return `csi-${sha256(`${volume.handle}${volume.driver}${node}`)}`
}

/** The handle of a volume that lives and dies with its pod. */
export function inlineHandle(uid: string, volumeName: string): string {
  return `csi-${sha256(`${uid}${volumeName}`)}`
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The kinds of volumes that were part of Kubernetes before there was CSI, and are left to drivers on every node of this version. */
export const MIGRATED_PLUGINS = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
] as const

export type MigratedPlugin = (typeof MIGRATED_PLUGINS)[number]

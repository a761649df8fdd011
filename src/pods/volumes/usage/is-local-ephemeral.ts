import type { VolumeSource } from '../desired-volume.ts'

/** True for a volume that takes room of the node's disk and goes with its pod. Parity: pkg/volume/util IsLocalEphemeralVolume(). */
export function isLocalEphemeral(source: VolumeSource): boolean {
  if (source.kind !== 'inline') return false
  const { emptyDir, configMap } = source.volume
  return configMap !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? '') === '')
}

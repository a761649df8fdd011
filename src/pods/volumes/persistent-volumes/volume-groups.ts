import type { VolumeSource } from '../desired-volume.ts'

const ANNOTATION = 'pv.beta.kubernetes.io/gid'

/** The supplemental group that a persistent volume names for its users; one that is no number is as good as none. */
export function volumeGroupsOf(source: VolumeSource): readonly number[] {
  const text = source.kind === 'persistent' ? (source.volume.metadata?.annotations?.[ANNOTATION] ?? '') : ''
  const group = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(group) ? [group] : []
}

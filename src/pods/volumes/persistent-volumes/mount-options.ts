import type { PersistentVolume } from '../../../model/generated/core-v1.ts'

const ANNOTATION = 'volume.beta.kubernetes.io/mount-options'

/** The mount options of a persistent volume; where the old annotation is there, it counts instead of the field. */
export function mountOptionsOf({ metadata, spec }: PersistentVolume): readonly string[] {
  const old = metadata?.annotations?.[ANNOTATION]
  return old === undefined ? (spec?.mountOptions ?? []) : old.split(',').filter((option) => option !== '')
}

/** Options as they go to mount: each once, in a fixed order. */
export function joinMountOptions(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].sort()
}

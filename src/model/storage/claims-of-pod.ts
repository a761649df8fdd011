import type { ObjectMeta, PersistentVolumeClaim, Volume } from '../generated/core-v1.ts'

interface ClaimingPod {
  readonly metadata?: ObjectMeta | undefined
  readonly spec?: { readonly volumes?: readonly Volume[] | undefined } | undefined
}

/** The name of the claim that a volume of a pod stands for; undefined for other volumes. */
export function claimNameOf({ metadata }: ClaimingPod, volume: Volume): string | undefined {
  if (volume.ephemeral !== undefined) return `${metadata?.name ?? ''}-${volume.name}`
  return volume.persistentVolumeClaim?.claimName
}

/** The names of all claims of a pod. */
export function claimNamesOf(pod: ClaimingPod): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? [])
}

/** Whether a claim was made for a pod's ephemeral volume. */
export function isClaimOfPod({ metadata }: PersistentVolumeClaim, pod: ClaimingPod): boolean {
  return (metadata?.ownerReferences ?? []).some(
    ({ uid, controller }) => controller === true && uid === pod.metadata?.uid,
  )
}

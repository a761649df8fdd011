import type { PodUid } from '../model/pod.ts'
import type { VolumeMeasure } from './volume-kind.ts'

/** A volume that is there, for those who measure what it takes. */
export interface MountedVolume {
  readonly uid: PodUid
  readonly pod: { readonly namespace: string; readonly name: string }
  /** As the pod calls it. */
  readonly name: string
  readonly path: string
  readonly measure: VolumeMeasure
  /** It takes room of the node, and goes with its pod. */
  readonly isLocalEphemeral: boolean
  readonly pvcRef: { readonly namespace: string; readonly name: string } | undefined
}

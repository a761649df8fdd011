import type { FileSystemUsage } from '../host/file-usage.ts'
import type { PodUid } from '../model/pod.ts'

/** How the space that a volume takes is found out; undefined where it is none of ours. */
export type VolumeMeasure = 'walk' | 'fileSystem' | 'once' | 'driver' | undefined

/** What a driver says of a volume; each part only as far as it says anything. */
export interface DriverUsage extends Partial<FileSystemUsage> {
  readonly condition?: { readonly abnormal: boolean; readonly message: string } | undefined
}

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
  /** Asks the driver of the volume, under the driver's name; nothing when it does not say. */
  readonly driver?: { readonly name: string; readonly ask: (signal: AbortSignal) => Promise<DriverUsage | undefined> }
  readonly pvcRef: { readonly namespace: string; readonly name: string } | undefined
}

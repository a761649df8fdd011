import type { FileSystemUsage } from '../../system/files/file-usage.ts'
import type { PodUid } from '../../model/pod/pod.ts'

/** How the space that a volume takes is found out; undefined where it is none of ours. */
export type VolumeMeasure = 'walk' | 'fileSystem' | 'once' | 'driver' | undefined

/** What a driver says of a volume; each part only as far as it says anything. */
export interface DriverUsage extends Partial<FileSystemUsage> {
  readonly condition?: { readonly abnormal: boolean; readonly message: string } | undefined
}

/** Who knows a volume better than its file system does. */
export interface VolumeDriver {
  readonly name: string
  /** Undefined when it never says anything. */
  ask(signal: AbortSignal): Promise<DriverUsage | undefined>
  /** Reports to users of the volume that something is wrong with it. */
  reportAbnormal(message: string): void
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
  readonly driver?: VolumeDriver
  readonly pvcRef: { readonly namespace: string; readonly name: string } | undefined
}

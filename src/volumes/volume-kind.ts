import type { PersistentVolume, Volume } from '../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../model/pod.ts'

/** Where a volume is on this node; enough to take it down without knowing its pod, after a crash for example. */
export interface VolumePlace {
  readonly uid: PodUid
  /** The name of its directory: that of the volume in the pod, or of the persistent volume behind it. */
  readonly specName: string
  /** <root>/pods/<uid>/volumes/<escaped plugin>/<specName>. */
  readonly path: string
}

/** A volume that a pod uses, with all that its kind needs to bring it. */
export interface VolumeWish extends VolumePlace {
  readonly pod: Pod
  /** As in spec.volumes[].name. */
  readonly name: string
  readonly source: VolumeSource
  /** Asked for by the claim in the pod or by the persistent volume itself. */
  readonly readOnly: boolean
  readonly fsGroup: number | undefined
  readonly fsGroupChangePolicy: 'Always' | 'OnRootMismatch'
  /** The user of all containers, when they have one in common. */
  readonly fsUser: number | undefined
  /** Directories that containers mount other volumes on inside this one, relative to its root. */
  readonly nestedMountPoints: readonly string[]
}

export type VolumeSource =
  | { readonly kind: 'inline'; readonly volume: Volume }
  | {
      readonly kind: 'persistent'
      readonly volume: PersistentVolume
      readonly claim: { readonly namespace: string; readonly name: string }
    }

/** What containers get of a volume that is there. */
export type ReadyVolume =
  | {
      readonly kind: 'files'
      /** What is bound into containers. */
      readonly hostPath: string
      /** Always read-only, whatever a container asks for. */
      readonly readOnly: boolean
      readonly selinuxRelabel: boolean
      /** Supplemental groups that containers need to use it. */
      readonly groups: readonly number[]
    }
  | { readonly kind: 'device'; readonly hostPath: string; readonly permissions: 'mrw' | 'r' }
  /** The runtime brings its content: containers name the image in their mounts. */
  | { readonly kind: 'image' }

/** How the space that a volume takes is found out; undefined where it is none of ours. */
export type VolumeMeasure = 'walk' | 'fileSystem' | 'once' | undefined

/** One kind of volume. Everything in it can be done again: after a failure, a crash, or because it was asked twice. */
export interface VolumeKind {
  /** As in kubernetes.io/empty-dir; its directory is this name with each / as ~. */
  readonly plugin: string
  /** Brought again at each look at the pod, because what it shows may have changed. */
  readonly refreshed: boolean
  readonly measure: VolumeMeasure
  /** Brings the volume, or brings it up to date. A failure leaves nothing mounted, or says so with UncertainMountError. */
  setUp(wish: VolumeWish, signal: AbortSignal): Promise<ReadyVolume>
  /** Takes it away; what is not there is no failure. Deletes data only where the data belongs to the pod. */
  tearDown(place: VolumePlace, signal: AbortSignal): Promise<void>
}

/** A mount that may or may not have happened: it is tried again, and taken down with the pod. */
export class UncertainMountError extends Error {
  override readonly name = 'UncertainMountError'
}

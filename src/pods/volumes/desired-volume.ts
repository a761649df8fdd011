import type { PersistentVolume, Volume } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'

/** Where a volume is on this node; enough to take it down without knowing its pod, after a crash for example. */
export interface VolumePlace {
  readonly uid: PodUid
  /** The name of its directory: that of the volume in the pod, or of the persistent volume behind it, with ~ for each /. */
  readonly specName: string
  /** <root>/pods/<uid>/volumes/<escaped plugin>/<specName>; volumeDevices in place of volumes for a device. */
  readonly path: string
}

/** A volume that a pod uses, with all that its kind needs to mount it. */
export interface DesiredVolume extends VolumePlace {
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
  /** Undefined where volumes are not mounted with SELinux labels. */
  readonly selinux?: SelinuxChoice | undefined
  /** Directories that containers mount other volumes on inside this one, relative to its root. */
  readonly nestedMountPoints: readonly string[]
}

/** How a volume is labelled for a pod. */
export interface SelinuxChoice {
  /** Of the volume on the node, whichever pod uses it. */
  readonly name: string
  /** What the pod needs, were it mounted so; empty when it needs none. */
  readonly label: string
  /** What it is mounted with; empty when the runtime labels its files. */
  readonly mountLabel: string
}

export type VolumeSource =
  | { readonly kind: 'inline'; readonly volume: Volume }
  | {
      readonly kind: 'persistent'
      readonly volume: PersistentVolume
      /** Undefined for one that is written down in the pod, as an old kind that is served by a CSI driver now. */
      readonly claim: { readonly namespace: string; readonly name: string } | undefined
      /** It is written as an old kind, and translated. */
      readonly isMigrated?: boolean
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

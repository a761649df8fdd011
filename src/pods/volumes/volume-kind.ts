import type { VolumeDriver, VolumeMeasure } from './mounted-volume.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import type { ReadyVolume, VolumePlace, DesiredVolume } from './desired-volume.ts'

/** A volume that is to be mounted, with what the agent knows of it. */
export interface SetUpRequest extends DesiredVolume {
  /** It is mounted already and is only updated. */
  readonly ready?: ReadyVolume | undefined
  /** An earlier agent left it, and containers may use it. */
  readonly isFound?: boolean | undefined
  readonly noteStep?: NoteStep | undefined
}

export interface TearDownRequest extends VolumePlace {
  readonly noteStep?: NoteStep | undefined
}

/** A volume of the node as SELinux sees it, whichever pods use it. */
export interface SelinuxIdentity {
  readonly name: string
  /** As metrics name it, with its driver. */
  readonly plugin: string
  readonly canLabel: boolean
}

/** One kind of volume. Everything in it can be done again: after a failure, a crash, or because it was asked twice. */
export interface VolumeKind {
  /** As in kubernetes.io/empty-dir; its directory is this name with each / as ~. */
  readonly plugin: string
  /** Ensured again at each pass over the pod, because what it shows may have changed. */
  readonly refreshed: boolean
  readonly measure: VolumeMeasure
  /** How one volume is measured, where not all of the kind are alike. */
  measureOf?(desired: DesiredVolume): VolumeMeasure
  /** Mounts the volume, or updates it. A failure leaves nothing mounted, or says so with UncertainMountError. */
  setUp(request: SetUpRequest, signal: AbortSignal): Promise<ReadyVolume>
  /** Takes it away; what is not there is no failure. Deletes data only where the data belongs to the pod. */
  tearDown(request: TearDownRequest, signal: AbortSignal): Promise<void>
  /** Takes in what an earlier agent left, before anything is mounted or unmounted. */
  adopt?(places: readonly VolumePlace[], signal: AbortSignal): Promise<void>
  /** Waits for others before anything can be done: for a controller that attaches. */
  isUnattached?(place: VolumePlace): boolean
  /** Which volume of the node it is, and whether that can be mounted with an SELinux label; absent for kinds that never are. */
  selinux?(desired: DesiredVolume, signal: AbortSignal): Promise<SelinuxIdentity>
  /** Who knows what a volume takes; only for what is measured by its driver. */
  driverOf?(desired: DesiredVolume): VolumeDriver
}

/** A mount that may or may not have happened: it is tried again, and taken down with the pod. */
export class UncertainMountError extends Error {
  override readonly name = 'UncertainMountError'
}

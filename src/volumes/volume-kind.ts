import type { ReadyVolume, VolumePlace, VolumeWish } from './volume-wish.ts'

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

import type { DesiredVolume } from '../desired-volume.ts'
import type { SetUpRequest } from '../volume-kind.ts'

/** A disk of the network that a pod wants. */
export interface Disk {
  /** Behind the name of the plugin in the status of the node. */
  readonly name: string
  /** Below the folder of the plugin; after a restart it alone says which disk is there. */
  readonly folder: string
  /** Undefined: what is on the disk. */
  readonly fsType: string | undefined
}

/** How disks of one kind come to this node and leave it. Everything in it can be done again. */
export interface DiskProtocol<D extends Disk> {
  readonly plugin: string
  /** How many names the folder of a disk has. */
  readonly depth: 1 | 2
  /** Fails for a volume that names no disk. */
  readonly describe: (desired: DesiredVolume) => D
  /** The name of a disk by its folder; undefined for a folder of another making. */
  readonly nameOf: (folder: string) => string | undefined
  /** Brings the disk to this node; returns the path of its device, without links. */
  readonly attach: (
    disk: D,
    wanted: { readonly request: SetUpRequest; readonly staging: string },
    signal: AbortSignal,
  ) => Promise<string>
  /** Takes the disk from this node, by its folder and what lies in it. Others: folders of the plugin that are still there. */
  readonly detach: (
    place: { readonly folder: string; readonly staging: string },
    others: readonly string[],
    signal: AbortSignal,
  ) => Promise<void>
}

import type { ObjectMeta } from '../../model/generated/core-v1.ts'

/** What a node needs of a CSINode: which drivers it has, and how many volumes each of them can mount there. */
export interface CsiNode {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  readonly metadata: ObjectMeta
  readonly spec: { readonly drivers?: readonly CsiNodeDriver[] | undefined }
}

export interface CsiNodeDriver {
  readonly name: string
  readonly nodeID: string
  readonly topologyKeys?: readonly string[] | null | undefined
  readonly allocatable?: { readonly count?: number | undefined } | undefined
}

/** What a driver says of this node. */
export interface DriverInfo {
  readonly nodeId: string
  /** How many volumes it can have; 0: any number. */
  readonly maxVolumes: bigint
  /** Where volumes have to be to be reached from here. */
  readonly topology: Readonly<Record<string, string>>
}

/** What the objects of the node should say of drivers; of those that are not in it, whatever they say now. */
export type KnownDrivers = ReadonlyMap<string, DriverInfo | 'gone'>

/** The node as the owner of its CSINode. */
export interface CsiNodeOwner {
  readonly name: string
  readonly uid: string
}

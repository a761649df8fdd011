import type { PodUid } from '../../model/pod/pod.ts'

/** A device of a claim, as its driver described it when it prepared the claim. */
export interface ClaimDevice {
  readonly poolName: string
  readonly deviceName: string
  /** Which part of a device that several claims share. */
  readonly shareId: string | undefined
  /** The requests of the claim that it serves; none: all of them. */
  readonly requestNames: readonly string[]
  readonly cdiDeviceIds: readonly string[]
}

/** A claim that pods of this node use. */
export interface ClaimRecord {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly podUids: ReadonlySet<PodUid>
  /** Every driver that has devices in the claim; of one that did not prepare it yet no devices are known. */
  readonly drivers: ReadonlyMap<string, readonly ClaimDevice[]>
  /** All drivers prepared it since this agent began. */
  readonly isPrepared: boolean
}

/** No two claims of a node share it at the same time. */
export function claimKey({ namespace, name }: Pick<ClaimRecord, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

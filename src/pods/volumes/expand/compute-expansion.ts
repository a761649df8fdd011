import type { PersistentVolumeClaim } from '../../../model/generated/core-v1.ts'
import { tryParseQuantity } from '../../../model/resources/quantity.ts'

/** What is to be done about the size of a volume on this node. Sizes are as they are written in the objects. */
export type Expansion =
  /** As large as it should be, or the cluster still works on it. */
  | { readonly kind: 'none' }
  /** The claim says already what the volume has become, without this node. */
  | { readonly kind: 'done'; readonly size: string }
  | {
      readonly kind: 'expand'
      readonly size: string
      /** The cluster follows each step of it in the status of the claim. */
      readonly followed: boolean
      /** Another node has done its part, and the claim says so. */
      readonly claimIsUpdated: boolean
    }

const NOT_REQUIRED = 'volume.kubernetes.io/node-expansion-not-required'
const PENDING: ReadonlySet<string> = new Set(['NodeResizePending', 'NodeResizeInProgress'])

export interface ExpansionInput {
  readonly claim: PersistentVolumeClaim
  /** What the persistent volume has. */
  readonly capacity: string | undefined
  /** What it had when this node last read it, in bytes. */
  readonly known: bigint
}

/** Parity: pkg/volume/util/operationexecutor NodeExpander.runPreCheck() and expandVolumeDuringMount(). */
export function computeExpansion({ claim, capacity, known }: ExpansionInput): Expansion {
  if (capacity === undefined || toBytes(capacity) <= known) return { kind: 'none' }
  const { allocatedResourceStatuses = {}, allocatedResources, capacity: has = {} } = claim.status ?? {}
  const status = allocatedResourceStatuses['storage'] ?? ''
  if (status === '' && allocatedResources === undefined)
    return {
      kind: 'expand',
      size: capacity,
      followed: false,
      claimIsUpdated: toBytes(has['storage']) >= toBytes(capacity),
    }
  const size = allocatedResources?.['storage'] ?? capacity
  const claimIsUpdated = status === '' && toBytes(has['storage']) >= toBytes(size)
  const isShared = claim.spec?.accessModes?.includes('ReadWriteMany') === true
  const isLeftOut = claim.metadata?.annotations?.[NOT_REQUIRED] !== undefined
  if (PENDING.has(status) || (claimIsUpdated && isShared && !isLeftOut))
    return { kind: 'expand', size, followed: true, claimIsUpdated }
  return claimIsUpdated ? { kind: 'done', size } : { kind: 'none' }
}

/** Whole bytes; what is no quantity is nothing. */
export function toBytes(size: string | undefined): bigint {
  return (size === undefined ? 0n : (tryParseQuantity(size)?.nanos ?? 0n)) / 1_000_000_000n
}

import type { ObjectMeta } from '../../model/generated/core-v1.ts'

/** The heartbeat of a node: a coordination.k8s.io/v1 Lease, as much of it as we use. */
export interface Lease {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly renewTime?: string
  }
}

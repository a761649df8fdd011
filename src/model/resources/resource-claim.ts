import type { ObjectMeta } from '../generated/core-v1.ts'

/** Who may use a claim. */
interface ClaimConsumer {
  readonly apiGroup?: string | undefined
  readonly resource?: string | undefined
  readonly name?: string | undefined
  readonly uid?: string | undefined
}

/** A ResourceClaim of resource.k8s.io/v1, as far as a node reads it. */
export interface ResourceClaim {
  readonly metadata?: ObjectMeta | undefined
  readonly status?:
    | {
        /** Absent until devices were chosen for it. */
        readonly allocation?:
          | {
              readonly devices?:
                | { readonly results?: readonly { readonly driver?: string | undefined }[] | undefined }
                | undefined
            }
          | undefined
        readonly reservedFor?: readonly ClaimConsumer[] | undefined
      }
    | undefined
}

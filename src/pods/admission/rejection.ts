/** Why a pod may not run on this node, in Kubernetes' own reasons. */
export interface Rejection {
  readonly reason: string
  readonly message: string
}

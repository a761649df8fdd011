/** A run of user or group ids of a pod and the run of the node's ids that they are. */
export interface IdMapping {
  readonly hostId: number
  readonly containerId: number
  readonly length: number
}

/** Which users and groups of the node those of a pod are, for a pod with a user namespace of its own. */
export interface UserNamespaceMapping {
  readonly uids: readonly IdMapping[]
  readonly gids: readonly IdMapping[]
}

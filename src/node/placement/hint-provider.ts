import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'

/** NUMA nodes by their numbers. */
export type NumaSet = ReadonlySet<number>

/** NUMA nodes that could give together what is asked for. */
export interface PlacementHint {
  readonly nodes: NumaSet
  /** No fewer nodes could ever do it. */
  readonly preferred: boolean
}

/** Where each resource could come from; undefined when that does not matter, an empty list when nowhere has enough. */
export type PlacementHints = ReadonlyMap<string, readonly PlacementHint[] | undefined>

/** Where all resources of a container should come from. */
export interface PlacementAffinity {
  /** Undefined when any place will do. */
  readonly nodes: NumaSet | undefined
  /** All providers prefer these nodes. */
  readonly preferred: boolean
}

/** Why something cannot be given, in Kubernetes' own reasons. */
export interface PlacementRejection {
  readonly reason: string
  readonly message: string
}

/**
 * Gives containers something that has a place in the machine. Nothing here waits: all hints of a container are asked for, one
 * affinity is made of them, and each provider allocates by it.
 */
export interface HintProvider {
  /** Where a container could get what it needs now; for what it has already, only the place where it has it. */
  hints(pod: Pod, container: Container): PlacementHints
  /** The same for all that the pod ever needs at one time. */
  podHints(pod: Pod): PlacementHints
  /** Why the allocation is rejected; undefined when the container has it now, had it already, or needs none. */
  allocate(pod: Pod, container: Container, affinity: PlacementAffinity): PlacementRejection | undefined
  /**
   * The same for all that a pod with resources of its own is to have at once. Providers without it know containers only, and are asked for
   * each of them.
   */
  allocatePod?(pod: Pod, affinity: PlacementAffinity): PlacementRejection | undefined
  /** Takes back all that the pod has: it does not run here after all, or has gone. */
  release(uid: PodUid): void
}

/** A NUMA node, and how far the memory of others is from its CPUs. */
export interface NumaPlace {
  readonly id: number
  /** By node, as the firmware reports it: 10 for its own. Empty where it does not. */
  readonly distances: ReadonlyMap<number, number>
}

/** How strictly the resources of a container have to be near each other, on this machine. */
export interface PlacementPolicy {
  readonly kind: 'best-effort' | 'restricted' | 'single-numa-node'
  /** What gets one affinity: each container, or the whole pod. */
  readonly scope: 'container' | 'pod'
  /** Pods with resources of their own are placed by those. */
  readonly podLevel: boolean
  /** Of as many nodes, those that are nearest to each other, not those with the lowest numbers. */
  readonly preferClosest: boolean
  /** In the order of their numbers. */
  readonly nodes: readonly NumaPlace[]
}

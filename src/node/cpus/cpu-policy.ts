import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import type { CpuTopology } from './cpu-topology.ts'

/** How the static policy chooses CPUs. */
export interface CpuPolicyOptions {
  /** Whole cores only: no container shares a core with another one. */
  readonly fullCoresOnly: boolean
  /** Reserved CPUs are for the system alone, not for containers that share theirs either. */
  readonly strictReservation: boolean
  readonly byUncoreCache: boolean
  readonly acrossNumaNodes: boolean
  readonly acrossCores: boolean
  /** Where placement asks for NUMA nodes, the sockets of those nodes are as good. */
  readonly alignBySocket: boolean
  /** What pods with resources of their own get. */
  readonly podLevel: PodLevel
}

/** The static policy on this machine. */
export interface CpuPolicy {
  readonly topology: CpuTopology
  /** Never given to a container alone. */
  readonly reserved: CpuSet
  readonly options: CpuPolicyOptions
}

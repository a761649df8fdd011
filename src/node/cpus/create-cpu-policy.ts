import { formatCpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import { computeChosenCpus } from './choose/compute-chosen-cpus.ts'
import type { CpuPolicy, CpuPolicyOptions } from './cpu-policy.ts'
import { allCpus } from './cpu-topology.ts'
import type { CpuTopology } from './cpu-topology.ts'

export interface CpuPolicyInput {
  readonly topology: CpuTopology
  readonly options: CpuPolicyOptions
  /** CPUs that are reserved by name; none when only their number is known. */
  readonly reservedCpus: CpuSet
  /** What is reserved of the CPUs in thousandths of one; counts when none are named. */
  readonly reservedMilli: bigint
}

/** The static policy on this machine; fails when it does not have what is reserved. */
export function createCpuPolicy({ topology, options, reservedCpus, reservedMilli }: CpuPolicyInput): CpuPolicy {
  const online = allCpus(topology)
  if (reservedCpus.size > 0) {
    const missing = reservedCpus.difference(online)
    if (missing.size === 0) return { topology, options, reserved: reservedCpus }
    throw new Error(
      `Cannot reserve CPUs "${formatCpuSet(reservedCpus)}": expected CPUs that are online, which are "${formatCpuSet(online)}"`,
    )
  }
  const count = Number((reservedMilli + 999n) / 1000n)
  const reserved = computeChosenCpus({ topology, options }, { available: online, count })
  if (reserved !== undefined && count > 0) return { topology, options, reserved }
  throw new Error(
    `Cannot reserve ${count} CPUs for the system: expected 1 to ${online.size}, which is what this machine has`,
  )
}

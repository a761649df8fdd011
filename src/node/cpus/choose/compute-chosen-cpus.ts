import type { CpuSet } from '../../../model/resources/cpu-set.ts'
import { computeDistributedCpus } from './compute-distributed-cpus.ts'
import { computePackedCpus } from './compute-packed-cpus.ts'
import type { CpuPolicyOptions } from '../cpu-policy.ts'
import { threadsPerCore } from '../cpu-topology.ts'
import type { CpuTopology } from '../cpu-topology.ts'

/** Chooses the given number of CPUs by the options of the policy; undefined when too few are available. */
export function computeChosenCpus(
  { topology, options }: { readonly topology: CpuTopology; readonly options: CpuPolicyOptions },
  { available, count }: { readonly available: CpuSet; readonly count: number },
): CpuSet | undefined {
  const desired = { available, count, spreadOverCores: options.acrossCores }
  if (options.acrossNumaNodes) {
    const groupSize = options.fullCoresOnly ? threadsPerCore(topology) : 1
    return computeDistributedCpus(topology, { ...desired, groupSize })
  }
  return computePackedCpus(topology, { ...desired, byUncoreCache: options.byUncoreCache })
}

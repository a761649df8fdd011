import type { Pressure, PressureLine } from './sampling/cgroup-sample.ts'
import type { InterfaceCounters } from './sampling/parse-net-dev.ts'
import type { CgroupUsage } from './stats-snapshot.ts'
import type {
  CpuStats,
  InterfaceStats,
  IoStats,
  MemoryStats,
  NetworkStats,
  PsiStats,
  SwapStats,
} from './reports/summary-types.ts'
import { toApiTime } from '../../model/text/api-time.ts'

/** What a summary says of one cgroup. */
export interface UsageStats {
  readonly cpu: CpuStats | undefined
  readonly memory: MemoryStats | undefined
  readonly swap: SwapStats | undefined
  readonly io: IoStats | undefined
}

const DEFAULT_INTERFACE = 'eth0'

/** Everything that a cgroup counts; without one, nothing is known. */
export function computeUsageStats(cgroup: CgroupUsage | undefined, withIo: boolean): UsageStats {
  const nothing = { cpu: undefined, memory: undefined, swap: undefined, io: undefined }
  if (cgroup === undefined) return nothing
  const { sample, nanoCores } = cgroup
  const time = toApiTime(cgroup.time)
  const { cpu, swap, io } = sample
  return {
    cpu:
      cpu === undefined
        ? undefined
        : { time, usageNanoCores: nanoCores, usageCoreNanoSeconds: cpu.usageNanos, psi: toPsi(cpu.pressure) },
    memory: toMemory(cgroup, time),
    swap:
      swap === undefined
        ? undefined
        : {
            time,
            swapAvailableBytes:
              swap.limitBytes === undefined ? undefined : Math.max(0, swap.limitBytes - swap.usageBytes),
            swapUsageBytes: swap.usageBytes,
          },
    io: withIo && io !== undefined ? { time, psi: toPsi(io.pressure) } : undefined,
  }
}

function toMemory({ sample: { memory } }: CgroupUsage, time: string): MemoryStats | undefined {
  if (memory === undefined) return undefined
  const { limitBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults, pressure } = memory
  return {
    time,
    availableBytes: limitBytes === undefined ? undefined : Math.max(0, limitBytes - workingSetBytes),
    usageBytes,
    workingSetBytes,
    rssBytes,
    pageFaults,
    majorPageFaults,
    psi: toPsi(pressure),
  }
}

const NO_PRESSURE: PressureLine = { avg10: 0, avg60: 0, avg300: 0, total: 0 }

/** Where the kernel does not count it, as on cgroup v1, readers get zeros as from the Go kubelet. */
function toPsi({ full, some }: Pressure = { full: NO_PRESSURE, some: NO_PRESSURE }): PsiStats {
  return { full, some }
}

/** The default interface, and all of them; undefined where none was read. */
export function computeNetworkStats(
  interfaces: readonly InterfaceCounters[] | undefined,
  time: string,
): NetworkStats | undefined {
  if (interfaces === undefined) return undefined
  const all = interfaces.map(toInterface)
  const usual = all.find(({ name }) => name === DEFAULT_INTERFACE)
  return { time, ...(usual ?? { name: '' }), interfaces: all }
}

function toInterface({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceCounters): InterfaceStats {
  return { name, rxBytes, rxErrors, txBytes, txErrors }
}

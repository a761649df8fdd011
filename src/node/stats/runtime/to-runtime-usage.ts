import type { CriResponse } from '../../../protocols/cri/cri-methods.ts'
import type { CgroupSample, MemorySample, Pressure, PressureLine } from '../sampling/cgroup-sample.ts'
import type { InterfaceCounters } from '../sampling/parse-net-dev.ts'
import type { CgroupUsage } from '../stats-snapshot.ts'

/** What the runtime reports of a pod. */
export type RuntimePodStats = CriResponse<'listPodSandboxStats'>['stats'][number]
type RuntimeContainerStats = NonNullable<RuntimePodStats['linux']>['containers'][number]

type LinuxStats = NonNullable<RuntimePodStats['linux']>
type Reported = Pick<RuntimeContainerStats, 'cpu' | 'memory' | 'io'> & {
  /** Of containers alone. */
  readonly swap?: RuntimeContainerStats['swap']
}
type Count = { readonly value: bigint } | undefined
type ReportedPsi = NonNullable<RuntimeContainerStats['cpu']>['psi']
type ReportedPsiLine = NonNullable<ReportedPsi>['Full']

const NANOS_PER_MS = 1_000_000n

/** What a container or a pod uses, in the form of a cgroup that was read. Without cpu and memory nothing is known. */
export function toRuntimeUsage(
  stats: Reported,
  options: {
    readonly pressure: boolean
    /** How much cpu it uses, by the sum until now, for a runtime that does not report it. */
    readonly rate: (usageNanos: number) => number | undefined
  },
): CgroupUsage | undefined {
  const { cpu, memory, swap, io } = stats
  const timestamp = cpu?.timestamp ?? memory?.timestamp
  if (timestamp === undefined) return undefined
  const usageNanos = toNumber(cpu?.usageCoreNanoSeconds) ?? 0
  const toPressure = (psi: ReportedPsi) => (options.pressure ? toPsi(psi) : undefined)
  const sample: CgroupSample = {
    cpu: cpu && { usageNanos, pressure: toPressure(cpu.psi) },
    memory: toMemory(memory, toPressure(memory?.psi)),
    swap: swap && {
      usageBytes: toNumber(swap.swapUsageBytes) ?? 0,
      limitBytes: sumOf(swap.swapUsageBytes, swap.swapAvailableBytes),
    },
    io: io && { pressure: toPressure(io.psi) },
    details: undefined,
  }
  const rate = cpu && options.rate(usageNanos)
  return {
    path: '',
    time: Number(timestamp / NANOS_PER_MS),
    sample,
    nanoCores: toNumber(cpu?.usageNanoCores) ?? rate,
  }
}

/** The sum of what containers swapped: the runtime reports it of them alone. */
export function sumSwap(containers: readonly (CgroupUsage | undefined)[]): CgroupSample['swap'] {
  const swaps = containers.flatMap((usage) => usage?.sample.swap ?? [])
  if (swaps.length === 0) return undefined
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const limits = swaps.flatMap(({ limitBytes }) => limitBytes ?? [])
  return {
    usageBytes: sum(swaps.map(({ usageBytes }) => usageBytes)),
    limitBytes: limits.length === 0 ? undefined : sum(limits),
  }
}

/** The interfaces of a pod, the default one among them. */
export function toInterfaces(network: LinuxStats['network']): readonly InterfaceCounters[] | undefined {
  if (network === undefined) return undefined
  const { defaultInterface, interfaces } = network
  const others = interfaces.filter(({ name }) => name !== defaultInterface?.name)
  return [...(defaultInterface === undefined ? [] : [defaultInterface]), ...others].map((each) => ({
    name: each.name,
    rxBytes: toNumber(each.rxBytes) ?? 0,
    rxErrors: toNumber(each.rxErrors) ?? 0,
    txBytes: toNumber(each.txBytes) ?? 0,
    txErrors: toNumber(each.txErrors) ?? 0,
    rxPackets: 0,
    rxDropped: 0,
    txPackets: 0,
    txDropped: 0,
  }))
}

export function toNumber(count: Count): number | undefined {
  return count === undefined ? undefined : Number(count.value)
}

function toMemory(memory: LinuxStats['memory'], pressure: Pressure | undefined): MemorySample | undefined {
  if (memory === undefined) return undefined
  const pageFaults = toNumber(memory.pageFaults) ?? 0
  const majorPageFaults = toNumber(memory.majorPageFaults) ?? 0
  return {
    usageBytes: toNumber(memory.usageBytes) ?? 0,
    workingSetBytes: toNumber(memory.workingSetBytes) ?? 0,
    rssBytes: toNumber(memory.rssBytes) ?? 0,
    cacheBytes: 0,
    mappedBytes: 0,
    activeFileBytes: 0,
    inactiveFileBytes: 0,
    pageFaults,
    majorPageFaults,
    ownPageFaults: pageFaults,
    ownMajorPageFaults: majorPageFaults,
    limitBytes: sumOf(memory.workingSetBytes, memory.availableBytes),
    pressure,
  }
}

/** A limit, from what is used of it and what is left; undefined where the runtime reports nothing left. */
function sumOf(used: Count, available: Count): number | undefined {
  return available === undefined ? undefined : Number(available.value + (used?.value ?? 0n))
}

function toPsi(psi: ReportedPsi): Pressure | undefined {
  return psi === undefined ? undefined : { some: toLine(psi.Some), full: toLine(psi.Full) }
}

function toLine(line: ReportedPsiLine): PressureLine {
  return {
    avg10: line?.Avg10 ?? 0,
    avg60: line?.Avg60 ?? 0,
    avg300: line?.Avg300 ?? 0,
    total: Number(line?.Total ?? 0n),
  }
}

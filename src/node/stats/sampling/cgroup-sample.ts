/** How long tasks waited for something, as the kernel counts it. */
export interface Pressure {
  readonly some: PressureLine
  readonly full: PressureLine
}

export interface PressureLine {
  readonly avg10: number
  readonly avg60: number
  readonly avg300: number
  /** In microseconds. */
  readonly total: number
}

/** What is wanted of a cgroup: each file that is not read is a part of what an idle node costs. */
export interface SampleRequest {
  /** Cpu alone; or memory too; or limits and swap as well. */
  readonly extent: 'cpu' | 'memory' | 'all'
  readonly details: boolean
  /** How long tasks waited; only cgroup v2 reports it. */
  readonly pressure: boolean
}

/** What one cgroup uses. A part whose controller is not there is undefined, and so is a limit that limits nothing. */
export interface CgroupSample {
  readonly cpu: { readonly usageNanos: number; readonly pressure: Pressure | undefined } | undefined
  readonly memory: MemorySample | undefined
  readonly swap: { readonly usageBytes: number; readonly limitBytes: number | undefined } | undefined
  readonly io: { readonly pressure: Pressure | undefined } | undefined
  /** Only read when a client wants it. */
  readonly details: CgroupDetails | undefined
}

export interface MemorySample {
  readonly usageBytes: number
  /** Memory that cannot be reclaimed at once: without files that are not in use at present. */
  readonly workingSetBytes: number
  readonly rssBytes: number
  readonly cacheBytes: number
  readonly mappedBytes: number
  readonly activeFileBytes: number
  readonly inactiveFileBytes: number
  readonly pageFaults: number
  readonly majorPageFaults: number
  /** Without those of cgroups below it. */
  readonly ownPageFaults: number
  readonly ownMajorPageFaults: number
  readonly limitBytes: number | undefined
  readonly pressure: Pressure | undefined
}

export interface CgroupDetails {
  readonly cpuUserSeconds: number
  readonly cpuSystemSeconds: number
  readonly cpuShares: number | undefined
  /** Of the quota, whether or not there is one. */
  readonly cpuPeriodMicros: number | undefined
  /** Undefined without a quota. */
  readonly throttling: CpuThrottling | undefined
  readonly memoryMaxUsageBytes: number | undefined
  readonly memoryFailures: number | undefined
  readonly memoryKernelBytes: number | undefined
  readonly memoryReservationBytes: number | undefined
  /** Together with the memory, on v1; of swap alone on v2. */
  readonly swapLimitBytes: number | undefined
  readonly oomKills: number | undefined
  readonly threads: number | undefined
  readonly threadsLimit: number | undefined
  readonly disks: readonly DiskSample[]
}

export interface CpuThrottling {
  readonly quotaMicros: number
  readonly periods: number
  readonly throttledPeriods: number
  readonly throttledSeconds: number
  readonly burstPeriods: number
  readonly burstSeconds: number
}

export interface DiskSample {
  /** As in 8:0. */
  readonly device: string
  /** By kind of operation: Read and Write, and on v1 also Sync, Async, Discard and Total. */
  readonly bytes: Readonly<Record<string, number>>
  readonly operations: Readonly<Record<string, number>>
  /** Microseconds by the kernel's model of costs; undefined where that is off. */
  readonly cost: DiskCost | undefined
}

export interface DiskCost {
  readonly usage: number
  readonly wait: number
  readonly indebt: number
  readonly indelay: number
}

/** What is written into a cgroup; a value that is undefined is left alone. */
export interface CgroupValues {
  readonly cpuShares?: bigint | undefined
  /** −1 is no limit. */
  readonly cpuQuota?: bigint | undefined
  readonly cpuPeriod?: bigint | undefined
  /** −1 is no limit. */
  readonly memoryLimitBytes?: bigint | undefined
  readonly pidsLimit?: bigint | undefined
  /** Bytes by page size, as the kernel's files spell it: "2MB". */
  readonly hugepageLimits?: ReadonlyMap<string, bigint> | undefined
  /** As the kernel writes them: "0-3,8". */
  readonly cpus?: string | undefined
  /** Memory that is never taken back; version 2 only. */
  readonly memoryMinBytes?: bigint | undefined
  /** Memory that is taken back last; version 2 only. */
  readonly memoryLowBytes?: bigint | undefined
}

/** The values of a pod's cgroup. */
export interface PodCgroup extends CgroupValues {
  readonly cpuShares: bigint
  /** Together with the period; −1 is no limit. */
  readonly cpuQuota: bigint | undefined
  readonly cpuPeriod: bigint | undefined
  readonly memoryLimitBytes: bigint | undefined
  readonly pidsLimit: bigint | undefined
  readonly hugepageLimits: ReadonlyMap<string, bigint>
}

/** What is in force in a pod's cgroup; a limit that is undefined is none, and a quota of −1. */
export interface PodCgroupState {
  readonly cpuShares: bigint | undefined
  readonly cpuQuota: bigint | undefined
  readonly cpuPeriod: bigint | undefined
  readonly memoryLimitBytes: bigint | undefined
  readonly memoryUsageBytes: bigint | undefined
}

/** One value for one file of a cgroup. */
export interface CgroupFileValue {
  readonly controller: 'cpu' | 'cpuset' | 'memory' | 'pids' | 'hugetlb'
  readonly file: string
  readonly text: string
  /** Not every kernel has it, and nothing is lost without. */
  readonly optional?: boolean
}

import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import { weightToShares } from '../../model/resources/cpu-shares-and-quota.ts'
import type { PodCgroupState } from '../../model/resources/cgroup-values.ts'

// Version 1 has no word for "no limit": it shows the largest number of pages.
const UNLIMITED = 1n << 62n

/** What the kernel says is in force in a cgroup. */
export function readPodCgroup(reader: CgroupReader, cgroup: string): PodCgroupState {
  const text = (controller: 'cpu' | 'memory', file: string) => reader.read(controller, cgroup, file)?.trim()
  if (reader.version === 1) {
    return {
      cpuShares: toNumber(text('cpu', 'cpu.shares')),
      cpuQuota: toNumber(text('cpu', 'cpu.cfs_quota_us')),
      cpuPeriod: toNumber(text('cpu', 'cpu.cfs_period_us')),
      memoryLimitBytes: toLimit(text('memory', 'memory.limit_in_bytes')),
      memoryUsageBytes: toNumber(text('memory', 'memory.usage_in_bytes')),
    }
  }
  const weight = toNumber(text('cpu', 'cpu.weight'))
  const [quota, period] = text('cpu', 'cpu.max')?.split(' ') ?? []
  return {
    cpuShares: weight === undefined ? undefined : weightToShares(weight),
    cpuQuota: quota === 'max' ? -1n : toNumber(quota),
    cpuPeriod: toNumber(period),
    memoryLimitBytes: toLimit(text('memory', 'memory.max')),
    memoryUsageBytes: toNumber(text('memory', 'memory.current')),
  }
}

function toNumber(text: string | undefined): bigint | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : undefined
}

function toLimit(text: string | undefined): bigint | undefined {
  const bytes = toNumber(text)
  return bytes === undefined || bytes < 0n || bytes >= UNLIMITED ? undefined : bytes
}

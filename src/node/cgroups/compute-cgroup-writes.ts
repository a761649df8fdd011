import { sharesToWeight } from '../../model/resources/cpu-shares-and-quota.ts'
import type { CgroupFileValue, CgroupValues } from '../../model/resources/cgroup-values.ts'

/** The values as the files of either version take them, in the order in which the kernel does. */
export function computeCgroupWrites(version: 1 | 2, values: CgroupValues): readonly CgroupFileValue[] {
  const { cpuShares, memoryLimitBytes, pidsLimit, hugepageLimits, cpus } = values
  const limit = (value: bigint) => (value >= 0n ? String(value) : version === 2 ? 'max' : '-1')
  return [
    ...(cpuShares === undefined ? [] : [version === 2 ? weight(cpuShares) : shares(cpuShares)]),
    ...(version === 2 ? quotaV2(values) : quotaV1(values)),
    ...(version === 2 ? protection(values) : []),
    ...text(
      'memory',
      version === 2 ? 'memory.max' : 'memory.limit_in_bytes',
      memoryLimitBytes && limit(memoryLimitBytes),
    ),
    ...text('pids', 'pids.max', pidsLimit && (pidsLimit < 0n ? 'max' : String(pidsLimit))),
    ...[...(hugepageLimits ?? [])].flatMap(([size, bytes]) => hugepages(version, size, bytes)),
    ...text('cpuset', 'cpuset.cpus', cpus),
  ]
}

function shares(value: bigint): CgroupFileValue {
  return { controller: 'cpu', file: 'cpu.shares', text: String(value) }
}

function weight(value: bigint): CgroupFileValue {
  return { controller: 'cpu', file: 'cpu.weight', text: String(sharesToWeight(value)) }
}

/** The period first: a quota must fit into it. */
function quotaV1({ cpuQuota, cpuPeriod }: CgroupValues): CgroupFileValue[] {
  return [
    ...text('cpu', 'cpu.cfs_period_us', cpuPeriod && String(cpuPeriod)),
    ...text('cpu', 'cpu.cfs_quota_us', cpuQuota && String(cpuQuota)),
  ]
}

function quotaV2({ cpuQuota, cpuPeriod }: CgroupValues): CgroupFileValue[] {
  if (!cpuQuota) return []
  const quota = cpuQuota < 0n ? 'max' : String(cpuQuota)
  return text('cpu', 'cpu.max', cpuPeriod === undefined ? quota : `${quota} ${cpuPeriod}`)
}

function protection({ memoryMinBytes, memoryLowBytes }: CgroupValues): CgroupFileValue[] {
  return [
    ...text('memory', 'memory.min', memoryMinBytes === undefined ? undefined : String(memoryMinBytes)),
    ...text('memory', 'memory.low', memoryLowBytes === undefined ? undefined : String(memoryLowBytes)),
  ]
}

/** Pages in use and pages promised are counted apart, the latter not by every kernel. */
function hugepages(version: 1 | 2, size: string, bytes: bigint): CgroupFileValue[] {
  const end = version === 2 ? 'max' : 'limit_in_bytes'
  const value = { controller: 'hugetlb', text: String(bytes) } as const
  return [
    { ...value, file: `hugetlb.${size}.${end}` },
    { ...value, file: `hugetlb.${size}.rsvd.${end}`, optional: true },
  ]
}

/** Nothing, 0 and an empty list are not written. */
function text(
  controller: CgroupFileValue['controller'],
  file: string,
  value: string | bigint | undefined,
): CgroupFileValue[] {
  return typeof value === 'string' && value !== '' ? [{ controller, file, text: value }] : []
}

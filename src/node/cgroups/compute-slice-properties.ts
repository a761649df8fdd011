import { sharesToWeight } from '../../model/resources/cpu-shares-and-quota.ts'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'
import { parseCpuSet } from '../../model/resources/cpu-set.ts'

/** A property of a unit of systemd: t is a number of 64 bits, ay a list of bytes. */
export type SliceProperty = readonly [name: string, value: { readonly signature: 't'; readonly value: bigint } | Bytes]

interface Bytes {
  readonly signature: 'ay'
  readonly value: readonly number[]
}

const UNLIMITED = (1n << 64n) - 1n
const MICROSECONDS = 1_000_000n
// systemd keeps quotas in steps of a hundredth of a CPU.
const QUOTA_STEP = 10_000n
const DEFAULT_PERIOD = 100_000n

/** The values by systemd's names, so that it does not undo them when it updates its slices. Values without such a name are left out. */
export function computeSliceProperties(version: 1 | 2, values: CgroupValues): readonly SliceProperty[] {
  const { cpuShares, cpuQuota, memoryLimitBytes, pidsLimit, cpus, memoryMinBytes, memoryLowBytes } = values
  const isV2 = version === 2
  return [
    ...(cpuShares === undefined ? [] : [isV2 ? t('CPUWeight', sharesToWeight(cpuShares)) : t('CPUShares', cpuShares)]),
    ...(cpuQuota ? quota(cpuQuota, values.cpuPeriod ?? DEFAULT_PERIOD) : []),
    ...(memoryLimitBytes ? [t(isV2 ? 'MemoryMax' : 'MemoryLimit', limit(memoryLimitBytes))] : []),
    ...(pidsLimit ? [t('TasksMax', limit(pidsLimit))] : []),
    ...(isV2 && memoryMinBytes !== undefined ? [t('MemoryMin', memoryMinBytes)] : []),
    ...(isV2 && memoryLowBytes !== undefined ? [t('MemoryLow', memoryLowBytes)] : []),
    ...(isV2 && cpus ? [['AllowedCPUs', { signature: 'ay', value: toMask(cpus) }] as const] : []),
  ]
}

function t(name: string, value: bigint): SliceProperty {
  return [name, { signature: 't', value }]
}

function limit(value: bigint): bigint {
  return value < 0n ? UNLIMITED : value
}

function quota(value: bigint, period: bigint): SliceProperty[] {
  const perSecond = (value * MICROSECONDS) / period
  const rounded = ((perSecond + QUOTA_STEP - 1n) / QUOTA_STEP) * QUOTA_STEP
  return [
    ...(period === DEFAULT_PERIOD ? [] : [t('CPUQuotaPeriodUSec', period)]),
    t('CPUQuotaPerSecUSec', value < 0n ? UNLIMITED : rounded),
  ]
}

/** "0-2,9" as bits, the lowest first. */
function toMask(list: string): readonly number[] {
  const cpus = parseCpuSet(list)
  const bytes = Array.from({ length: ((cpus.at(-1) ?? -1) >> 3) + 1 }, () => 0)
  for (const cpu of cpus) bytes[cpu >> 3] = (bytes[cpu >> 3] ?? 0) | (1 << (cpu & 7))
  return bytes
}

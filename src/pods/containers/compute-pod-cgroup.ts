import { computePodLimits, computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import { cpuQuota, cpuShares } from '../../model/resources/cpu-shares-and-quota.ts'
import { hugepageSize } from '../../model/resources/hugepage-sizes.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../model/resources/quantity.ts'
import type { PodCgroup } from '../../model/resources/cgroup-values.ts'

export interface PodCgroupSettings {
  readonly cpuCfsQuota: boolean
  readonly cpuCfsQuotaPeriodMicroseconds: bigint
  /** Not set when 0 or less. */
  readonly podPidsLimit: bigint
  /** The page sizes of this kernel, as its cgroup files spell them: "2MB", "1GB". */
  readonly hugepageSizes: readonly string[]
  /** A container of this pod has CPUs for itself, so a quota would only slow it down. */
  readonly exclusiveCpus: boolean
  /** Memory that pods ask for is protected from being taken back. */
  readonly protectsMemory: boolean
}

/** The values of a pod's cgroup. A limit counts only when it holds for all the pod can run. */
export function computePodCgroup(pod: Pod, settings: PodCgroupSettings): PodCgroup {
  const requests = computePodRequests(pod, { overhead: true })
  const common = {
    pidsLimit: settings.podPidsLimit > 0n ? settings.podPidsLimit : undefined,
    hugepageLimits: hugepageLimits(requests, settings.hugepageSizes),
  }
  if (computeQosClass(pod) === 'BestEffort') {
    return { ...common, cpuShares: cpuShares(0n), ...NO_QUOTA, memoryLimitBytes: undefined }
  }
  const limits = computePodLimits(pod, { overhead: true })
  const memory = limits.get('memory')
  return {
    ...common,
    ...(settings.protectsMemory ? protection(pod, requests) : {}),
    cpuShares: cpuShares(milliCpu(requests)),
    ...(isLimited(pod, 'cpu') ? quota(limits, settings) : NO_QUOTA),
    memoryLimitBytes: memory !== undefined && isLimited(pod, 'memory') ? quantityValue(memory) : undefined,
  }
}

const NO_QUOTA = { cpuQuota: undefined, cpuPeriod: undefined }

function quota(limits: ResourceAmounts, settings: PodCgroupSettings): Pick<PodCgroup, 'cpuQuota' | 'cpuPeriod'> {
  const { cpuCfsQuota, cpuCfsQuotaPeriodMicroseconds: cpuPeriod, exclusiveCpus } = settings
  const unlimited = !cpuCfsQuota || exclusiveCpus
  return { cpuQuota: unlimited ? -1n : cpuQuota(milliCpu(limits), cpuPeriod), cpuPeriod }
}

/** What a Guaranteed pod asks for is never taken back, what another asks for is taken back last. */
function protection(pod: Pod, requests: ResourceAmounts): Pick<PodCgroup, 'memoryMinBytes' | 'memoryLowBytes'> {
  const memory = requests.get('memory')
  if (memory === undefined || memory.nanos <= 0n) return {}
  const bytes = quantityValue(memory)
  return computeQosClass(pod) === 'Guaranteed' ? { memoryMinBytes: bytes } : { memoryLowBytes: bytes }
}

function milliCpu(amounts: ResourceAmounts): bigint {
  const cpu = amounts.get('cpu')
  return cpu === undefined ? 0n : quantityMilliValue(cpu)
}

/** One container without a limit makes the whole pod unlimited, unless the pod has a limit of its own. */
function isLimited({ spec }: Pod, name: 'cpu' | 'memory'): boolean {
  const isSet = (limits: Readonly<Record<string, string>> | undefined): boolean =>
    parseQuantity(limits?.[name] ?? '0').nanos > 0n
  if (isSet(spec.resources?.limits)) return true
  return [...spec.containers, ...(spec.initContainers ?? [])].every(({ resources }) => isSet(resources?.limits))
}

/** Every size of the node is named: what is not asked for must be 0, or it would be unlimited. */
function hugepageLimits(requests: ResourceAmounts, sizes: readonly string[]): ReadonlyMap<string, bigint> {
  const limits = new Map(sizes.map((size) => [size, 0n]))
  for (const [name, amount] of requests) {
    const size = hugepageSize(name)
    if (size !== undefined) limits.set(size, quantityValue(amount))
  }
  return limits
}

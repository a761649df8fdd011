import { computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { QosClass } from '../../model/resources/compute-qos-class.ts'
import { cpuShares } from '../../model/resources/cpu-shares-and-quota.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { quantityMilliValue, quantityValue } from '../../model/resources/quantity.ts'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'

/** What one pod adds to the values of its class. */
export interface PodShare {
  readonly qosClass: QosClass
  readonly milliCpu: bigint
  readonly memoryBytes: bigint
}

export interface QosSettings {
  /** Undefined unless memory is kept for the better classes: how much of what those ask for, and what all pods may have. */
  readonly reserve: { readonly percent: bigint; readonly podsBytes: bigint } | undefined
  /** Undefined unless memory can be protected: whether what pods ask for is. */
  readonly protectsMemory: boolean | undefined
  /** As the kernel's files spell them. */
  readonly hugepageSizes: readonly string[]
}

/** How much memory of each class is protected; undefined where none can be. */
export function computeProtectedMemory(
  shares: readonly PodShare[],
  { protectsMemory }: QosSettings,
): { readonly guaranteedBytes: number; readonly burstableBytes: number } | undefined {
  if (protectsMemory === undefined) return undefined
  const sum = (qosClass: QosClass) =>
    shares.reduce((total, share) => total + (share.qosClass === qosClass ? Number(share.memoryBytes) : 0), 0)
  return protectsMemory
    ? { guaranteedBytes: sum('Guaranteed'), burstableBytes: sum('Burstable') }
    : { guaranteedBytes: 0, burstableBytes: 0 }
}

/** The values of the cgroups above pods: of all pods, and of the two classes that have one of their own. */
export interface QosCgroupValues {
  readonly pods: CgroupValues
  readonly burstable: CgroupValues
  readonly bestEffort: CgroupValues
}

// As much as the kernel takes for "no limit".
const UNLIMITED = 1n << 62n

/** What a pod adds to its class. It is kept, since all pods are counted whenever one comes or goes. */
export function computePodShare(pod: Pod): PodShare {
  const requests = computePodRequests(pod, { overhead: true })
  const cpu = requests.get('cpu')
  const memory = requests.get('memory')
  return {
    qosClass: computeQosClass(pod),
    milliCpu: cpu === undefined ? 0n : quantityMilliValue(cpu),
    memoryBytes: memory === undefined ? 0n : quantityValue(memory),
  }
}

/** Burstable pods together weigh what they ask for; the others below them take what is left. */
export function computeQosCgroups(shares: readonly PodShare[], settings: QosSettings): QosCgroupValues {
  const of = (qosClass: QosClass, amount: 'milliCpu' | 'memoryBytes') =>
    shares.reduce((sum, share) => (share.qosClass === qosClass ? sum + share[amount] : sum), 0n)
  const [guaranteed, burstable] = [of('Guaranteed', 'memoryBytes'), of('Burstable', 'memoryBytes')]
  const hugepageLimits = new Map(settings.hugepageSizes.map((size) => [size, UNLIMITED]))
  const { reserve, protectsMemory } = settings
  const keep = (bytes: bigint) => (bytes * (reserve?.percent ?? 0n)) / 100n
  const limit = (bytes: bigint) => (reserve === undefined ? {} : { memoryLimitBytes: bytes < 0n ? 0n : bytes })
  const burstableLimit = (reserve?.podsBytes ?? 0n) - keep(guaranteed)
  const protectedBytes = (bytes: bigint) => (protectsMemory === true ? bytes : 0n)
  return {
    // What is protected below counts only as far as it is protected above.
    pods: protectsMemory === undefined ? {} : { memoryMinBytes: protectedBytes(guaranteed + burstable) },
    burstable: {
      cpuShares: cpuShares(of('Burstable', 'milliCpu')),
      hugepageLimits,
      ...limit(burstableLimit),
      ...(protectsMemory === undefined ? {} : { memoryLowBytes: protectedBytes(burstable) }),
    },
    bestEffort: { cpuShares: cpuShares(0n), hugepageLimits, ...limit(burstableLimit - keep(burstable)) },
  }
}

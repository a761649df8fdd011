import type { HugepageLimit, LinuxContainerResources } from '../../protocols/cri/generated/runtime-v1.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { hugepageSize } from '../../model/resources/hugepage-sizes.ts'
import type { PodContainer } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { compareQuantities, quantityValue } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import { computeCpuAndMemory } from './compute-cpu-and-memory.ts'
import type { CpuQuotaSettings } from './compute-cpu-and-memory.ts'
import { computeMemoryQos } from './compute-memory-qos.ts'
import type { MemoryQosSettings } from './compute-memory-qos.ts'
import { computeOomScoreAdj } from './compute-oom-score-adj.ts'

/** What the node has and how it is configured to share it. */
export interface ContainerResourceSettings extends CpuQuotaSettings {
  readonly cgroupVersion: 1 | 2
  /** The page sizes of this kernel, as its cgroup files spell them: "2MB", "1GB". */
  readonly hugepageSizes: readonly string[]
  readonly memoryCapacityBytes: bigint
  readonly swap: SwapSettings
  /** True: the kernel kills single processes, not the whole container (cgroup v2 only). */
  readonly singleProcessOomKill: boolean
  /** Undefined when memory is only limited. */
  readonly memoryQos: MemoryQosSettings | undefined
}

export interface SwapSettings {
  /** False when the kernel cannot limit swap by cgroup. */
  readonly controller: boolean
  readonly behavior: 'NoSwap' | 'LimitedSwap'
  readonly capacityBytes: bigint
}

/** CPUs and memory nodes that a manager gave to one container. */
export interface CpusetAssignment {
  readonly cpus: string
  readonly mems: string
  /** No other container runs on these CPUs, so a quota would only slow this one down. */
  readonly exclusive: boolean
}

interface Needs {
  readonly requests: ResourceAmounts
  readonly limits: ResourceAmounts
  readonly podLimits: ResourceAmounts
}

export interface ContainerResourcesInput {
  readonly pod: Pod
  readonly podContainer: PodContainer
  readonly cpuset: CpusetAssignment | undefined
  readonly settings: ContainerResourceSettings
}

/** The limits of one container in the kernel's terms. */
export function computeContainerResources(input: ContainerResourcesInput): LinuxContainerResources {
  const { pod, podContainer, cpuset, settings } = input
  const { resources } = podContainer.container
  const needs: Needs = {
    requests: parseAmounts(resources?.requests),
    limits: parseAmounts(resources?.limits),
    podLimits: parseAmounts(pod.spec.resources?.limits),
  }
  const basic = computeCpuAndMemory(
    {
      cpuRequest: needs.requests.get('cpu'),
      cpuLimit: effectiveLimit(needs, 'cpu'),
      memoryLimit: effectiveLimit(needs, 'memory'),
    },
    settings,
  )
  const unlimited = settings.cpuCfsQuota && cpuset?.exclusive === true
  return {
    ...basic,
    ...(unlimited ? { cpuQuota: -1n } : {}),
    oomScoreAdj: computeOomScoreAdj(pod, podContainer, settings.memoryCapacityBytes),
    cpusetCpus: cpuset?.cpus ?? '',
    cpusetMems: cpuset?.mems ?? '',
    hugepageLimits: hugepageLimits(needs, settings.hugepageSizes),
    ...swapLimit(pod, needs, { settings, memoryLimitInBytes: basic.memoryLimitInBytes }),
  }
}

/** A container without a limit of its own has the pod's. */
function effectiveLimit({ limits, podLimits }: Needs, name: string): Quantity | undefined {
  const own = limits.get(name)
  return own !== undefined && own.nanos > 0n ? own : podLimits.get(name)
}

/** Every size of the node is named: what is not asked for must be 0, or it would be unlimited. */
function hugepageLimits({ limits, podLimits }: Needs, sizes: readonly string[]): HugepageLimit[] {
  const bySize = new Map<string, bigint>()
  for (const [name, amount] of [...podLimits, ...limits]) {
    const size = hugepageSize(name)
    if (size !== undefined) bySize.set(size, quantityValue(amount))
  }
  return sizes.map((pageSize) => ({ pageSize, limit: bySize.get(pageSize) ?? 0n }))
}

interface SwapContext {
  readonly settings: ContainerResourceSettings
  readonly memoryLimitInBytes: bigint
}

function swapLimit(
  pod: Pod,
  needs: Needs,
  { settings, memoryLimitInBytes }: SwapContext,
): Pick<LinuxContainerResources, 'unified' | 'memorySwapLimitInBytes'> {
  const { swap, cgroupVersion } = settings
  if (cgroupVersion === 1) {
    // Version 1 counts memory and swap together, so no swap means the same number twice.
    return { unified: {}, memorySwapLimitInBytes: swap.controller ? memoryLimitInBytes : 0n }
  }
  return {
    unified: {
      ...(settings.singleProcessOomKill ? {} : { 'memory.oom.group': '1' }),
      ...(swap.controller ? { 'memory.swap.max': `${swapBytes(pod, needs, settings)}` } : {}),
      ...(settings.memoryQos === undefined ? {} : computeMemoryQos(pod, needs, settings.memoryQos)),
    },
    memorySwapLimitInBytes: 0n,
  }
}

/** With LimitedSwap a Burstable container gets as much of the swap as it asked for of the memory. */
function swapBytes(pod: Pod, needs: Needs, { swap, memoryCapacityBytes }: ContainerResourceSettings): bigint {
  const request = needs.requests.get('memory')
  if (!sharesSwap(pod, needs, swap) || request === undefined || memoryCapacityBytes <= 0n) return 0n
  return (quantityValue(request) * swap.capacityBytes) / memoryCapacityBytes
}

/** May a container with these resources use swap? */
export function usesSwap(
  pod: Pod,
  { resources }: Pick<Container, 'resources'>,
  { swap, cgroupVersion }: ContainerResourceSettings,
): boolean {
  const needs = { requests: parseAmounts(resources?.requests), limits: parseAmounts(resources?.limits) }
  return cgroupVersion === 2 && swap.controller && sharesSwap(pod, needs, swap)
}

function sharesSwap(pod: Pod, { requests, limits }: Omit<Needs, 'podLimits'>, { behavior }: SwapSettings): boolean {
  if (behavior === 'NoSwap' || computeQosClass(pod) !== 'Burstable' || isCriticalPod(pod)) return false
  const [request, limit] = [requests.get('memory'), limits.get('memory')]
  return request !== undefined && (limit === undefined || compareQuantities(request, limit) !== 0)
}

import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'

/** How the kernel treats the memory of containers between what they ask for and their limit (gate MemoryQoS, cgroup v2). */
export interface MemoryQosSettings {
  /** So far from the request to the limit a container is slowed down; more than 0, at most 1. */
  readonly throttlingFactor: number
  /** What is asked for is protected from being taken back. */
  readonly protectsMemory: boolean
  /** What pods may have of the node: the limit of those without. */
  readonly allocatableBytes: bigint | undefined
}

const PAGE_BYTES = 4096

/** The files of a container's cgroup by which its memory is protected and slowed down. */
export function computeMemoryQos(
  pod: Pod,
  { requests, limits }: { readonly requests: ResourceAmounts; readonly limits: ResourceAmounts },
  settings: MemoryQosSettings,
): Readonly<Record<string, string>> {
  const request = bytesOf(requests)
  const limit = bytesOf(limits)
  const high =
    request === limit ? 0n : throttleFrom(request, limit === 0n ? settings.allocatableBytes : limit, settings)
  return {
    ...protection(pod, request, settings),
    ...(high > request ? { 'memory.high': String(high) } : {}),
  }
}

/** Named also when there is none: what was protected once must not stay so. */
function protection(
  pod: Pod,
  request: bigint,
  { protectsMemory }: MemoryQosSettings,
): Readonly<Record<string, string>> {
  if (!protectsMemory || request === 0n) return { 'memory.min': '0', 'memory.low': '0' }
  return { [computeQosClass(pod) === 'Guaranteed' ? 'memory.min' : 'memory.low']: String(request) }
}

/** Whole pages, rounded as floating point numbers are in the Go kubelet. */
function throttleFrom(request: bigint, limit: bigint | undefined, { throttlingFactor }: MemoryQosSettings): bigint {
  if (limit === undefined || limit === 0n) return 0n
  const from = Math.floor(Number(request) + (Number(limit) - Number(request)) * throttlingFactor)
  return BigInt(Math.trunc(from / PAGE_BYTES) * PAGE_BYTES)
}

function bytesOf(amounts: ResourceAmounts): bigint {
  const memory = amounts.get('memory')
  return memory === undefined ? 0n : quantityValue(memory)
}

import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import { isNodeCriticalPod } from '../../model/pod/critical-pod.ts'
import type { ResourceRequirements } from '../../model/generated/core-v1.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { PodContainer } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { parseQuantity, quantityValue } from '../../model/resources/quantity.ts'

const GUARANTEED_SCORE = -997n
const BEST_EFFORT_SCORE = 1000n
// A Guaranteed container that uses all memory reaches 3: a Burstable one goes before it, and after every BestEffort one.
const LOWEST_BURSTABLE_SCORE = 3n
const HIGHEST_BURSTABLE_SCORE = 999n

/** How early the kernel kills a container when memory is short: the more a pod was promised, the later. */
export function computeOomScoreAdj(pod: Pod, { kind, container }: PodContainer, memoryCapacityBytes: bigint): bigint {
  if (isNodeCriticalPod(pod)) return GUARANTEED_SCORE
  const qos = computeQosClass(pod)
  if (qos === 'Guaranteed') return GUARANTEED_SCORE
  if (qos === 'BestEffort') return BEST_EFFORT_SCORE
  const share = unclaimedShare(pod)
  const own = score(memoryRequest(container.resources) + share, memoryCapacityBytes)
  if (kind !== 'init' || !isSidecar(container)) return bounded(own)
  // A sidecar outlives the containers that it serves.
  const requests = pod.spec.containers.map(({ resources }) => memoryRequest(resources))
  const smallest = requests.reduce((least, request) => (request < least ? request : least))
  const served = score(smallest + share, memoryCapacityBytes)
  return bounded(own < served ? own : served)
}

/** What the pod as a whole asks for beyond its containers, in equal parts. */
function unclaimedShare({ spec }: Pod): bigint {
  const podRequest = memoryRequest(spec.resources)
  if (podRequest === 0n) return 0n
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  const claimed = containers.reduce((total, { resources }) => total + memoryRequest(resources), 0n)
  return podRequest > claimed ? (podRequest - claimed) / BigInt(containers.length) : 0n
}

function score(request: bigint, capacity: bigint): bigint {
  return capacity > 0n ? 1000n - (1000n * request) / capacity : 1000n
}

function bounded(value: bigint): bigint {
  if (value < LOWEST_BURSTABLE_SCORE) return LOWEST_BURSTABLE_SCORE
  return value > HIGHEST_BURSTABLE_SCORE ? HIGHEST_BURSTABLE_SCORE : value
}

function memoryRequest(resources: ResourceRequirements | undefined): bigint {
  const text = resources?.requests?.['memory']
  return text === undefined ? 0n : quantityValue(parseQuantity(text))
}

import type { ResourceRequirements } from '../generated/core-v1.ts'
import type { Pod } from '../pod/pod.ts'
import { compareQuantities, parseQuantity } from './quantity.ts'
import type { Quantity } from './quantity.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const COUNTED = ['cpu', 'memory'] as const

/** How much a pod is promised, from its cpu and memory alone. What the API server says stands, since the class never changes. */
export function computeQosClass(pod: Pick<Pod, 'spec' | 'status'>): QosClass {
  const said = pod.status?.qosClass
  if (said === 'Guaranteed' || said === 'Burstable' || said === 'BestEffort') return said
  const { resources, containers, initContainers = [] } = pod.spec
  const parts =
    resources === undefined
      ? [...containers, ...initContainers].map((container) => container.resources ?? {})
      : [resources]
  if (!parts.some(asksForAnything)) return 'BestEffort'
  return parts.every(limitsWhatItAsksFor) ? 'Guaranteed' : 'Burstable'
}

function asksForAnything({ requests, limits }: ResourceRequirements): boolean {
  return COUNTED.some((name) => positive(requests, name) !== undefined || positive(limits, name) !== undefined)
}

function limitsWhatItAsksFor({ requests, limits }: ResourceRequirements): boolean {
  return COUNTED.every((name) => {
    const request = positive(requests, name)
    const limit = positive(limits, name)
    return request !== undefined && limit !== undefined && compareQuantities(request, limit) === 0
  })
}

function positive(amounts: Readonly<Record<string, string>> | undefined, name: string): Quantity | undefined {
  const text = amounts?.[name]
  const quantity = text === undefined ? undefined : parseQuantity(text)
  return quantity !== undefined && quantity.nanos > 0n ? quantity : undefined
}

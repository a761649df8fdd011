import type { Pod } from '../../model/pod/pod.ts'
import { formatQuantity, parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import type { PodUsage } from '../stats/stats-snapshot.ts'
import { computeLeast } from './compute-eviction-step.ts'
import { toQuantity } from './compute-observations.ts'
import type { Observations } from './compute-observations.ts'
import { computeContainerUsage, memoryOf } from './compute-pod-usage.ts'
import { OBSERVED_SIGNALS } from './observed-signal.ts'
import type { StarvedResource } from './observed-signal.ts'
import type { Threshold } from './threshold.ts'

export interface EvictionReason {
  readonly resource: StarvedResource
  /** All thresholds that called for an eviction. */
  readonly due: readonly Threshold[]
  readonly observations: Observations
}

/** What an eviction reports; programs read the annotations. */
export interface EvictionMessage {
  readonly message: string
  readonly annotations: Readonly<Record<string, string>>
}

const NONE = '0'
/** What a pod uses of those that it can request as a whole. */
const USED_BY_POD: Readonly<Record<StarvedResource, typeof memoryOf | undefined>> = {
  memory: memoryOf,
  'ephemeral-storage': undefined,
  inodes: undefined,
  pids: undefined,
}

/** Says what the node was short of and which containers used more than they requested, in upstream's words. */
export function computeEvictionMessage(pod: Pod, stats: PodUsage | undefined, reason: EvictionReason): EvictionMessage {
  const { resource } = reason
  const head = `The node was low on resource: ${resource}. ${thresholdText(reason)}`
  if (stats === undefined) return { message: head, annotations: {} }
  const blame = (who: string, usage: string, request: string) =>
    `${who} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `
  const whole = podDemand(pod, stats, resource)
  const offenders = listOffenders(pod, stats, resource)
  const parts = [
    ...(whole === undefined ? [] : [blame(`Pod ${pod.metadata.name}`, whole.usage, whole.request)]),
    ...offenders.map(({ name, usage, request }) => blame(`Container ${name}`, usage, request)),
  ]
  return {
    message: head + parts.join(''),
    annotations: {
      ...(whole === undefined ? {} : { offending_pod: pod.metadata.name, offending_pod_usage: whole.usage }),
      offending_containers: offenders.map(({ name }) => name).join(','),
      offending_containers_usage: offenders.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  }
}

function thresholdText({ resource, due, observations }: EvictionReason): string {
  const threshold = due.find(({ signal }) => OBSERVED_SIGNALS[signal].resource === resource && observations.has(signal))
  const observation = threshold && observations.get(threshold.signal)
  if (threshold === undefined || observation === undefined) return ''
  const least = formatQuantity(computeLeast(threshold.value, observation))
  return `Threshold quantity: ${least}, available: ${formatQuantity(observation.available)}. `
}

function podDemand({ spec }: Pod, stats: PodUsage, resource: StarvedResource) {
  const request = spec.resources?.requests?.[resource]
  const usage = USED_BY_POD[resource]?.(stats)
  if (request === undefined || usage === undefined) return undefined
  return { usage: formatQuantity(toQuantity(usage, 'BinarySI')), request: formatQuantity(parseQuantity(request)) }
}

function listOffenders({ spec }: Pod, { containers }: PodUsage, resource: StarvedResource) {
  const specs = [...spec.containers, ...(spec.initContainers ?? [])]
  return containers.flatMap((container) => {
    const found = specs.find(({ name }) => name === container.name)
    const used = computeContainerUsage(container, resource)
    if (found === undefined || used === undefined) return []
    const request = parseQuantity(found.resources?.requests?.[resource] ?? NONE)
    if (BigInt(used) <= quantityValue(request)) return []
    const usage = formatQuantity(toQuantity(used, 'BinarySI'))
    return [{ name: container.name, usage, request: formatQuantity(request) }]
  })
}

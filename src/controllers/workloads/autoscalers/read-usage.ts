import type { ObjectMeta } from '../../../model/generated/core-v1.ts'
import { quantityMilliValue, tryParseQuantity } from '../../../model/resources/quantity.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { UsageReading } from './compute-proposal.ts'

interface PodMetrics {
  readonly metadata: ObjectMeta
  readonly timestamp: string
  /** As in "15.2s". */
  readonly window: string
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[]
}

/** What pods use, by namespace and by name. */
export type UsageByNamespace = ReadonlyMap<string, ReadonlyMap<string, UsageReading>>

// The API may have to ask a kubelet twice for it.
const REQUEST_MS = 30_000

/** What all pods use, in one request. */
export async function readUsage(client: KubeClient, signal: AbortSignal): Promise<UsageByNamespace> {
  const path = '/apis/metrics.k8s.io/v1beta1/pods'
  const { items } = await client.send<{ readonly items: readonly PodMetrics[] }>(
    { method: 'GET', path, timeoutMs: REQUEST_MS },
    signal,
  )
  const byNamespace = Map.groupBy(items, ({ metadata }) => metadata.namespace ?? '')
  return new Map(
    [...byNamespace].map(([namespace, pods]) => [
      namespace,
      new Map(pods.map((pod) => [pod.metadata.name ?? '', toUsage(pod)])),
    ]),
  )
}

function toUsage({ timestamp, window, containers }: PodMetrics): UsageReading {
  return {
    time: Date.parse(timestamp),
    windowMs: Number.parseFloat(window) * 1000,
    containers: new Map(containers.map(({ name, usage }) => [name, toAmounts(usage)])),
  }
}

function toAmounts(usage: Readonly<Record<string, string>>): ReadonlyMap<string, bigint> {
  return new Map(
    Object.entries(usage).flatMap(([resource, text]) => {
      const quantity = tryParseQuantity(text)
      return quantity === undefined ? [] : [[resource, quantityMilliValue(quantity)] as const]
    }),
  )
}

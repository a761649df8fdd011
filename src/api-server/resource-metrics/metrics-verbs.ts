import { notFound } from '../api-error.ts'
import type { ApiStore } from '../store/api-store.ts'
import type { ApiObject } from '../store/api-object.ts'
import { namedIn } from '../lifecycle/change-set.ts'
import { jsonResponse, textResponse } from '../rest/api-request.ts'
import type { ApiResponse } from '../rest/api-request.ts'
import { isSelected, parseSelection } from '../rest/lists/list-objects.ts'
import { presentList, presentObject } from '../rest/present.ts'
import { presentationOf } from '../rest/verbs/read-verbs.ts'
import type { ResourceRequest } from '../rest/resource-request.ts'
import { METRICS_GROUP } from './metrics-resources.ts'
import type { MetricsObject } from './metrics-resources.ts'
import type { ResourceMetrics } from './resource-metrics.ts'
import type { MeasuredPod, Usage } from './usage-meter.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

export interface MetricsDeps {
  readonly store: ApiStore
  readonly metrics: ResourceMetrics
}

/** GET of what pods or nodes use: of one, or of all that are selected. */
export async function metricsVerb(
  { store, metrics }: MetricsDeps,
  asked: ResourceRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const { info, resource } = asked
  const how = { ...presentationOf(asked), now: 0 }
  const selection = parseSelection(resource, info.namespace, info.query)
  const all = await measureAll({ store, metrics }, resource.plural === 'nodes', signal)
  const here = all.filter(({ metadata }) => selection.namespace === undefined || metadata.namespace === info.namespace)
  if (info.verb === 'get') {
    const found = here.find(({ metadata }) => metadata.name === info.name)
    if (found === undefined) throw notFound(namedIn(resource, info.name))
    return jsonResponse(200, presentObject(how, found))
  }
  const items = here.filter((object) => isSelected(selection, object)).map((object) => toItem(object))
  return textResponse(200, presentList(how, items, {}))
}

function toItem(object: ApiObject) {
  const { namespace = '', name = '' } = object.metadata
  const key = { resource: METRICS_GROUP, namespace, name }
  return { key, version: 0, object, text: formatExactJson(object) }
}

async function measureAll({ store, metrics }: MetricsDeps, ofNodes: boolean, signal: AbortSignal) {
  const nodes = store.list({ resource: 'nodes' }).map(({ object }) => object)
  metrics.keepOnly(nodes.map(({ metadata }) => metadata.name ?? ''))
  const measured = await Promise.all(
    nodes.map(async (node): Promise<readonly MetricsObject[]> => {
      const meter = await metrics.measure(node.metadata.name ?? '', signal)
      if (!ofNodes) return meter.pods().flatMap((pod) => toPodMetrics(store, pod))
      const usage = meter.node()
      return usage === undefined ? [] : [toNodeMetrics(node, usage)]
    }),
  )
  return measured.flat()
}

function toNodeMetrics({ metadata: { name, labels } }: ApiObject, usage: Usage): MetricsObject {
  return { ...headOf('NodeMetrics', { name, labels }, usage), usage: toAmounts(usage) }
}

/** Of pods that the API knows; a kubelet may have others. */
function toPodMetrics(store: ApiStore, { namespace, name, containers }: MeasuredPod): readonly MetricsObject[] {
  const pod = store.get({ resource: 'pods', namespace, name })?.object
  const [first] = containers.values()
  if (pod === undefined || first === undefined) return []
  const head = headOf('PodMetrics', { name, namespace, labels: pod.metadata.labels }, first)
  return [{ ...head, containers: [...containers].map(([each, usage]) => ({ name: each, usage: toAmounts(usage) })) }]
}

function headOf(kind: string, metadata: object, { time, windowMs }: Usage): MetricsObject {
  return {
    kind,
    apiVersion: `${METRICS_GROUP}/v1beta1`,
    metadata: { ...metadata, creationTimestamp: toApiTime(time) },
    timestamp: toApiTime(time),
    window: `${windowMs / 1000}s`,
  }
}

function toAmounts({ cpuNanoCores, memoryBytes }: Usage) {
  return { cpu: `${cpuNanoCores}n`, memory: `${Math.ceil(memoryBytes / 1024)}Ki` }
}

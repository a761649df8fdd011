import { sameValue } from '../../../base/document/same-value.ts'
import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Endpoints, Pod, Service } from '../../../model/generated/core-v1.ts'
import { isAlreadyThere, isNamespaceEnding } from '../../engine/api-objects.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { createController, createQueue, queueChanges } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { parseWorkKey, toKey } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { computeEndpoints } from './compute-endpoints.ts'
import { computeSliceGroups } from './compute-slice-groups.ts'
import type { ServicePods } from './compute-slice-groups.ts'
import { computeSlicePlan } from './compute-slice-plan.ts'
import {
  ENDPOINTS_CONTROLLER,
  ENDPOINTS_MANAGED_BY_LABEL,
  HEADLESS_LABEL,
  MANAGED_BY_LABEL,
  SERVICE_NAME_LABEL,
  SLICE_CONTROLLER,
  hasSelector,
  isHeadless,
  withoutReserved,
} from './service-labels.ts'
import { writeSlices } from './write-slices.ts'

type Deps = Pick<ControllerDeps, 'pods' | 'nodes' | 'services' | 'slices' | 'endpoints'>

/** Says who listens behind each service that finds its pods by labels: in slices, and in the older Endpoints. */
export function createEndpointSliceController(deps: ControllerDeps): Controller {
  const { pods, nodes, services, slices, endpoints } = deps
  const queue = createQueue('endpoint-slices', deps)
  queueChanges(queue, services)
  pods.known.onChange((after, before) => {
    const namespace = (after ?? before)?.metadata.namespace ?? ''
    for (const service of services.known.in(namespace)) {
      if ([after, before].some((pod) => pod !== undefined && selects(service, pod)))
        queue.add(toKey(namespace, service.metadata.name))
    }
  })
  slices.known.onChange((after, before) => {
    const { labels = {}, namespace = '' } = (after ?? before)?.metadata ?? {}
    if (labels[MANAGED_BY_LABEL] === SLICE_CONTROLLER) queue.add(toKey(namespace, labels[SERVICE_NAME_LABEL] ?? ''))
  })
  endpoints.known.onChange((after, before) => {
    const { namespace = '', name = '' } = (after ?? before)?.metadata ?? {}
    queue.add(toKey(namespace, name))
  })
  nodes.known.onChange((after, before) => {
    const isSame =
      after !== undefined && before !== undefined && sameValue(after.metadata.labels, before.metadata.labels)
    if (!isSame) for (const { metadata } of services.known.all()) queue.add(toKey(metadata.namespace, metadata.name))
  })
  return createController({
    name: 'endpoint-slices',
    queue,
    reads: [pods, nodes, services, slices, endpoints],
    reconcile: (key, signal) => reconcile(deps, parseWorkKey(key), signal),
  })
}

function selects({ spec }: Live<Service>, { metadata }: Live<Pod>): boolean {
  if (!hasSelector({ spec })) return false
  return Object.entries(spec.selector ?? {}).every(([name, value]) => metadata.labels?.[name] === value)
}

async function reconcile(
  deps: Deps,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<NextTurn> {
  const service = deps.services.known.get(namespace, name)
  if (service?.metadata.deletionTimestamp !== undefined) return undefined
  const own = ownSlices(deps, namespace, name)
  if (service === undefined || !hasSelector(service)) {
    for (const slice of own) await deps.slices.remove(slice, {}, signal)
    const left = deps.endpoints.known.get(namespace, name)
    // Those of a service without a selector are its user's.
    if (service === undefined && left !== undefined && isOurs(left)) await deps.endpoints.remove(left, {}, signal)
    return undefined
  }
  const nodes = new Map(deps.nodes.known.all().map((node) => [node.metadata.name, node]))
  const pods = deps.pods.known.in(namespace).filter((pod) => selects(service, pod))
  const found = { service, pods, nodes }
  await writeSlices(deps.slices, namespace, computeSlicePlan(frameOf(service), own, computeSliceGroups(found)), signal)
  await writeEndpoints(deps, found, signal)
  return undefined
}

function ownSlices({ slices }: Deps, namespace: string, service: string): readonly Live<EndpointSlice>[] {
  return slices.known.in(namespace).filter(({ metadata: { labels = {} } }) => {
    return labels[MANAGED_BY_LABEL] === SLICE_CONTROLLER && labels[SERVICE_NAME_LABEL] === service
  })
}

function isOurs({ metadata }: Live<Endpoints>): boolean {
  return metadata.labels?.[ENDPOINTS_MANAGED_BY_LABEL] === ENDPOINTS_CONTROLLER
}

function frameOf(service: Live<Service>) {
  const { namespace, name, uid, labels } = service.metadata
  const owner = { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }
  return {
    baseName: name,
    namespace,
    owner,
    labels: {
      ...withoutReserved(labels),
      [SERVICE_NAME_LABEL]: name,
      [MANAGED_BY_LABEL]: SLICE_CONTROLLER,
      ...(isHeadless(service) && { [HEADLESS_LABEL]: '' }),
    },
  }
}

async function writeEndpoints({ endpoints }: Deps, pods: ServicePods, signal: AbortSignal): Promise<void> {
  const { namespace, name } = pods.service.metadata
  const { metadata: wanted, subsets } = computeEndpoints(pods)
  const present = endpoints.known.get(namespace, name)
  if (present === undefined) {
    try {
      await endpoints.create(namespace, { metadata: { ...wanted, name, namespace }, subsets }, signal)
    } catch (error) {
      if (!isNamespaceEnding(error) && !isAlreadyThere(error)) throw error
    }
    return
  }
  const { labels, annotations } = present.metadata
  const isSame =
    sameValue(present.subsets ?? [], subsets) &&
    sameValue(labels ?? {}, wanted?.labels) &&
    sameValue(annotations ?? {}, wanted?.annotations ?? {})
  if (isSame) return
  const metadata = { ...present.metadata, labels: wanted?.labels, annotations: wanted?.annotations }
  await endpoints.update({ ...present, metadata, subsets }, signal)
}

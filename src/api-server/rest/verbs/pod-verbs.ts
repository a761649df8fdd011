import { badRequest, conflict, notFound } from '../../api-error.ts'
import type { ApiStatus } from '../../api-error.ts'
import { bindPod } from '../../kinds/rules/pods/pod-rules.ts'
import { BINDING, EVICTION } from '../../kinds/rules/pods/pod-subresources.ts'
import { changeObjects, readDryRun } from '../api-context.ts'
import type { ApiDeps } from '../api-context.ts'
import { jsonResponse } from '../api-request.ts'
import type { ApiResponse } from '../api-request.ts'
import { decodeBody, readDocument } from '../decode-body.ts'
import { handleEviction } from '../../lifecycle/handle-eviction.ts'
import { dryRunOf, keyIn } from '../resource-request.ts'
import type { ResourceRequest } from '../resource-request.ts'

const SUCCESS: ApiStatus = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** POST to pods/eviction: a deletion that a disruption budget could reject. */
export async function evictVerb(deps: ApiDeps, asked: ResourceRequest): Promise<ApiResponse> {
  const { request, info } = asked
  const { object } = decodeBody(await readDocument(request, EVICTION), EVICTION)
  const { deleteOptions = {}, metadata } = object
  if (metadata.name && metadata.name !== info.name)
    throw badRequest('name in URL does not match name in Eviction object')
  const isDryRun = dryRunOf(request, info).isDryRun || readDryRun(deleteOptions.dryRun ?? [])
  await changeObjects(deps, { user: request.user, isDryRun }, (changes) => ({
    key: keyIn(asked, info.name),
    object: handleEviction(changes, info.namespace, info.name, deleteOptions),
  }))
  return jsonResponse(201, SUCCESS)
}

/** POST to pods/binding, or to bindings with the name of the pod: a scheduler's decision. */
export async function bindVerb(deps: ApiDeps, asked: ResourceRequest): Promise<ApiResponse> {
  const { request, info } = asked
  const { object } = decodeBody(await readDocument(request, BINDING), BINDING)
  const { target, metadata } = object
  const podName = info.name || (metadata.name ?? '')
  if (!target.name || (target.kind && target.kind !== 'Node'))
    throw badRequest('a pod is bound to a Node, which target.name must name')
  const node = target.name
  const name = { group: '', resource: 'pods', name: podName }
  await changeObjects(deps, dryRunOf(request, info), (changes) => {
    const key = { resource: 'pods', namespace: info.namespace, name: podName } as const
    const pod = changes.objects.get(key)
    if (pod === undefined) throw notFound(name)
    if (pod.metadata.deletionTimestamp !== undefined)
      throw conflict(name, `pod ${podName} is being deleted, cannot be assigned to a host`)
    const { nodeName, schedulingGates = [] } = pod.spec ?? {}
    const bound = { ...name, resource: 'pods/binding' }
    if (nodeName) throw conflict(bound, `pod ${podName} is already assigned to node "${nodeName}"`)
    if (schedulingGates.length > 0) throw conflict(bound, `pod ${podName} has non-empty .spec.schedulingGates`)
    return { key, object: changes.put(key, bindPod(pod, node, changes.requestContext.now)) }
  })
  return jsonResponse(201, SUCCESS)
}

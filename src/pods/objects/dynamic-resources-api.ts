import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ApiPause, ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { ResourceClaim } from '../../model/resources/resource-claim.ts'
import type { NamespacedName } from './object-api.ts'

/** What a node asks the API about devices that pods claim. */
export interface DynamicResourcesApi {
  readClaim(key: NamespacedName, signal: AbortSignal): Promise<ResourceClaim>
  /** Deletes the ResourceSlices of this node, of one driver or of all. */
  deleteSlices(driver: string | undefined, signal: AbortSignal): Promise<void>
  /** For one caller that tries again: its pauses end when the API answers others. */
  readonly pauses: ApiPause
}

export interface DynamicResourcesApiDeps {
  readonly client: Pick<KubeClient, 'send'>
  readonly nodeName: string
  /** Has the node been registered? Before that it may not touch anything. */
  readonly isRegistered: () => boolean
  readonly apiReturn: ApiReturn
}

const GROUP = '/apis/resource.k8s.io/v1'
// One that hangs must not hold up a pod for ever.
const ANSWER_MS = 10_000

/** Claims are read by their names and slices selected by the node: others a node may not touch. */
export function createDynamicResourcesApi({
  client,
  nodeName,
  isRegistered,
  apiReturn,
}: DynamicResourcesApiDeps): DynamicResourcesApi {
  return {
    pauses: apiReturn.pauses(),
    async readClaim({ namespace, name }, signal) {
      const path = `${GROUP}/namespaces/${encodeURIComponent(namespace)}/resourceclaims/${encodeURIComponent(name)}`
      return await client.send<ResourceClaim>({ method: 'GET', path, timeoutMs: ANSWER_MS }, signal)
    },
    async deleteSlices(driver, signal) {
      if (!isRegistered()) throw new Error(`Cannot delete the resource slices of "${nodeName}": it is not registered`)
      const selected = [`spec.nodeName=${nodeName}`, ...(driver === undefined ? [] : [`spec.driver=${driver}`])]
      const query = { fieldSelector: selected.join(',') }
      try {
        await client.send({ method: 'DELETE', path: `${GROUP}/resourceslices`, query, timeoutMs: ANSWER_MS }, signal)
      } catch (error) {
        // A cluster without the API has no slices either.
        if (!isNotFound(error)) throw error
      }
    },
  }
}

import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { ObjectName } from './applied-object.ts'

interface DiscoveredResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

/** Where an object is, or is to be. */
export interface ObjectPlace {
  /** The path of the collection that it is in. */
  readonly collection: string
  readonly name: ObjectName
}

/** Where objects of each kind are, as the API itself reports. */
export class ObjectPaths {
  readonly #client: KubeClient
  readonly #known = new Map<string, Promise<readonly DiscoveredResource[]>>()

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** Fails for a kind that the API does not have. */
  async find(
    object: Pick<ObjectName, 'apiVersion' | 'kind' | 'name'> & { readonly namespace: string | undefined },
    signal: AbortSignal,
  ): Promise<ObjectPlace> {
    const { apiVersion, kind } = object
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const resources = await this.#discover(root, signal)
    const found = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'))
    if (found === undefined) throw new Error(`the API has no ${kind} in ${apiVersion}`)
    const namespace = found.namespaced ? object.namespace || 'default' : ''
    const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`
    return {
      collection: `${root}${scope}/${found.name}`,
      name: { apiVersion, kind, namespace, name: object.name },
    }
  }

  async #discover(root: string, signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
    const known = this.#known.get(root)
    if (known !== undefined) return await known
    const asked = this.#client
      .send<{ readonly resources: readonly DiscoveredResource[] }>({ method: 'GET', path: root }, signal)
      .then(({ resources }) => resources)
    this.#known.set(root, asked)
    try {
      return await asked
    } catch (error) {
      this.#known.delete(root)
      if (isNotFound(error)) return []
      throw error
    }
  }
}

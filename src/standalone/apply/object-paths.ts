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

/** A kind that the API does not have, and so no objects of it either. */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError'
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
    const found = await this.#findKind(root, kind, signal)
    if (found === undefined) throw new UnknownKindError(`the API has no ${kind} in ${apiVersion}`)
    const namespace = found.namespaced ? object.namespace || 'default' : ''
    const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`
    return {
      collection: `${root}${scope}/${found.name}`,
      name: { apiVersion, kind, namespace, name: object.name },
    }
  }

  /** A definition may have added the kind since the API was asked. */
  async #findKind(root: string, kind: string, signal: AbortSignal): Promise<DiscoveredResource | undefined> {
    const isIt = (resource: DiscoveredResource) => resource.kind === kind && !resource.name.includes('/')
    const wasAsked = this.#known.has(root)
    const found = (await this.#discover(root, signal)).find(isIt)
    if (found !== undefined || !wasAsked) return found
    this.#known.delete(root)
    return (await this.#discover(root, signal)).find(isIt)
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

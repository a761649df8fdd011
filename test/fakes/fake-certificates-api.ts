import { setImmediate } from 'node:timers/promises'
import { KubeApiError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest, WatchEvent } from '../../src/protocols/kube-api/kube-client.ts'

interface FakeObject {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly resourceVersion: string
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: object
}

/** An API server that has trust bundles, in some versions, certificate requests of pods, and a service account. */
export class FakeCertificatesApi implements KubeClient {
  bundleVersions: readonly string[] = ['v1beta1']
  readonly asked: string[] = []
  readonly requests: FakeObject[] = []
  readonly bundles: FakeObject[] = []
  #version = 1

  addBundle(name: string, trustBundle: string): void {
    this.bundles.push({ metadata: { name, resourceVersion: this.#next() }, spec: { trustBundle } })
  }

  /** The signer decides about the newest request. */
  answer(status: object): void {
    const last = this.requests.pop()
    if (last === undefined) throw new Error('There is no request')
    this.requests.push({ ...last, metadata: { ...last.metadata, resourceVersion: this.#next() }, status })
  }

  async send<T>({ method, path, body, query = {} }: KubeRequest, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const selector = query['fieldSelector'] ?? ''
    this.asked.push(`${method} ${path}${selector && ` ${selector}`}`)
    if (method === 'POST') return this.#create(body as FakeObject) as T
    if (path.includes('/serviceaccounts/')) return { metadata: { uid: 'account-uid' } } as T
    const [, version = ''] = /^\/apis\/certificates.k8s.io\/(\w+)$/.exec(path) ?? []
    if (version !== '' && this.bundleVersions.includes(version))
      return { resources: [{ name: 'clustertrustbundles' }] } as T
    if (version !== '') throw new KubeApiError('not found', { code: 404, reason: 'NotFound' })
    return { metadata: { resourceVersion: String(this.#version) }, items: [...this.#collection(path)] } as T
  }

  async *watch(
    { path, query = {} }: Pick<KubeRequest, 'path' | 'query'>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    let seen = Number(query['resourceVersion'])
    const known = new Map(this.#collection(path).map((object) => [object.metadata.name, object]))
    while (!signal.aborted) {
      for (const object of this.#collection(path)) {
        if (Number(object.metadata.resourceVersion) > seen) yield { type: 'MODIFIED', object }
        known.set(object.metadata.name, object)
      }
      for (const [name, object] of known) {
        if (this.#collection(path).some(({ metadata }) => metadata.name === name)) continue
        known.delete(name)
        yield {
          type: 'DELETED',
          object: { ...object, metadata: { ...object.metadata, resourceVersion: this.#next() } },
        }
      }
      seen = this.#version
      await setImmediate()
    }
    throw signal.reason
  }

  #collection(path: string): readonly FakeObject[] {
    return path.endsWith('/clustertrustbundles') ? this.bundles : this.requests
  }

  #create(body: FakeObject): FakeObject {
    const { namespace } = body.metadata
    const name = `req-${this.#version}`
    const created = {
      ...body,
      metadata: { ...body.metadata, name, ...(namespace && { namespace }), resourceVersion: this.#next() },
    }
    this.requests.push(created)
    return created
  }

  #next(): string {
    this.#version += 1
    return String(this.#version)
  }
}

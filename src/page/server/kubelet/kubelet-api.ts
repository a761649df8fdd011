import type { Clock } from '../../../base/async/clock.ts'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { KubeApiError } from '../../../protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest } from '../../../protocols/kube-api/kube-client.ts'
import type {
  TransportRequest,
  TransportResponse,
  UpgradeTransport,
} from '../../../protocols/kube-api/transport/transport.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { toKubeletTarget } from './to-kubelet-target.ts'
import { PolledCollection } from './watch-by-polling.ts'

/** Connections to a kubelet's own port. */
interface KubeletConnection {
  readonly client: KubeClient
  readonly transport: UpgradeTransport
}

interface KubeletApiDeps extends KubeletConnection {
  readonly nodeName: string
  readonly clock: Clock
}

interface AccessReviewBody {
  readonly spec?: {
    readonly resourceAttributes?: {
      readonly verb?: string
      readonly resource?: string
      readonly subresource?: string
    }
  }
}

const ONE_POD = /^\/api\/v1\/namespaces\/([\w.-]+)\/pods\/([\w.-]+)$/
const DEADLINE_MS = 10_000
const FORBIDDEN = [401, 403]
/** There is none of this name: upper case is not allowed. */
const NO_POD = 'NO-POD'
const PROBED: Readonly<Record<string, string>> = {
  exec: `/exec/default/${NO_POD}/main?output=1&command=true`,
  portforward: `/portForward/default/${NO_POD}`,
}

/** As much of the Kubernetes API as a kubelet's own port can answer for: its pods, their logs, commands and ports. Nothing can be changed. */
export class KubeletApi {
  readonly client: KubeClient
  readonly transport: UpgradeTransport
  readonly toTarget = (target: string): string => toKubeletTarget(target) ?? target
  readonly #deps: KubeletApiDeps
  readonly #collections: Readonly<Record<string, PolledCollection>>

  constructor(deps: KubeletApiDeps) {
    this.#deps = deps
    const { clock, transport } = deps
    this.#collections = {
      '/api/v1/pods': new PolledCollection(clock, (signal) => this.#readPods(signal)),
      '/api/v1/nodes': new PolledCollection(clock, async (signal) => [await this.#describeNode(signal)]),
      // It knows none of these.
      ...Object.fromEntries(
        ['events', 'persistentvolumeclaims', 'persistentvolumes'].map((name) => [
          `/api/v1/${name}`,
          new PolledCollection(clock, () => Promise.resolve([])),
        ]),
      ),
    }
    this.client = {
      send: async <T>(request: KubeRequest, signal: AbortSignal) => (await this.#answer(request, signal)) as T,
      watch: ({ path, query }, signal) => this.#collection(path).watch(query?.['resourceVersion'] ?? '', signal),
    }
    this.transport = {
      host: transport.host,
      request: (request, signal) => this.#pass(request, signal),
      closeAll: (why) => transport.closeAll(why),
      openUpgradeConnection: (signal) => transport.openUpgradeConnection(signal),
    }
  }

  async #pass(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    const { method, target } = request
    const ownTarget = method === 'GET' ? toKubeletTarget(target) : undefined
    if (ownTarget !== undefined) {
      const headers = { accept: '*/*' }
      return await this.#deps.transport.request({ ...request, target: ownTarget, headers, body: undefined }, signal)
    }
    try {
      const { pathname: path } = new URL(target, 'http://kubelet.invalid')
      return toResponse(200, await this.#answer({ method: method as KubeRequest['method'], path }, signal))
    } catch (error) {
      if (!(error instanceof KubeApiError)) throw error
      return toResponse(error.code, { kind: 'Status', status: 'Failure', message: error.message, code: error.code })
    }
  }

  async #answer({ method, path, body }: KubeRequest, signal: AbortSignal): Promise<unknown> {
    if (path === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' && method === 'POST')
      return { status: { allowed: await this.#may(body as AccessReviewBody, signal) } }
    if (method !== 'GET')
      throw new KubeApiError('a kubelet by itself changes nothing: that takes an API server', {
        code: 405,
        reason: '',
      })
    if (path === `/api/v1/nodes/${this.#deps.nodeName}`) return await this.#describeNode(signal)
    const [, namespace, name] = ONE_POD.exec(path) ?? []
    if (name === undefined) return await this.#collection(path).list(signal)
    const pods = await this.#readPods(signal)
    const pod = pods.find(({ metadata }) => metadata?.namespace === namespace && metadata?.name === name)
    if (pod === undefined) throw notFound(`the kubelet has no pod "${namespace}/${name}"`)
    return pod
  }

  #collection(path: string): PolledCollection {
    const found = this.#collections[path]
    if (found === undefined) throw notFound('a kubelet by itself does not know: that takes an API server')
    return found
  }

  async #readPods(signal: AbortSignal): Promise<readonly Pod[]> {
    const { items } = await this.#deps.client.send<{ readonly items?: readonly Pod[] | null }>(
      { method: 'GET', path: '/pods', timeoutMs: DEADLINE_MS },
      signal,
    )
    return items ?? []
  }

  /** Whether the kubelet is healthy is all that its port says about the node as such. */
  async #describeNode(signal: AbortSignal): Promise<object> {
    const { nodeName: name, transport } = this.#deps
    const request = { method: 'GET', target: '/healthz', headers: {}, body: undefined, isWatch: false }
    const message = await transport.request(request, signal).then(readText, errorMessage)
    const condition = { type: 'Ready', status: message === 'ok' ? 'True' : 'False', reason: '', message }
    return { metadata: { name, uid: name }, status: { conditions: [condition] } }
  }

  /** What it refuses to do with a pod that cannot exist, it refuses with others; to read is to try. */
  async #may({ spec }: AccessReviewBody, signal: AbortSignal): Promise<boolean> {
    const { verb, resource, subresource = '' } = spec?.resourceAttributes ?? {}
    if (verb === 'get' && resource === 'nodes') return true
    const target = resource === 'pods' && verb === 'create' ? PROBED[subresource] : undefined
    if (target === undefined) return false
    const request = { method: 'POST', target, headers: {}, body: undefined, isWatch: false }
    const { status, body } = await this.#deps.transport.request(request, signal)
    for await (const _ of body);
    return !FORBIDDEN.includes(status)
  }
}

function notFound(message: string): KubeApiError {
  return new KubeApiError(message, { code: 404, reason: 'NotFound' })
}

async function readText({ body }: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').trim()
}

function toResponse(status: number, value: unknown): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(value))
  return {
    status,
    retryAfter: undefined,
    body: (async function* () {
      yield bytes
    })(),
  }
}

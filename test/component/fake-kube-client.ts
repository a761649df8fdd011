import { formatExactJson, parseExactJson } from '../../src/base/document/exact-json.ts'
import { KubeApiError, KubeUnreachableError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest, WatchEvent } from '../../src/protocols/kube-api/kube-client.ts'
import type { Api } from '../../src/api-server/rest/create-api.ts'
import type { RequestUser } from '../../src/api-server/kinds/resource.ts'

const NODE: RequestUser = { name: 'system:node:node-1', groups: ['system:nodes'] }

/** A client of the real API, in this process and without a connection; it can be away, or answer badly. */
export class FakeKubeClient implements KubeClient {
  /** What was sent, such as "PATCH /api/v1/namespaces/shop/pods/web/status". */
  readonly sent: string[] = []
  /** The bodies of what was sent. */
  readonly bodies: unknown[] = []
  /** While set, each request fails with what it gives; undefined lets one through. */
  failure: ((request: KubeRequest) => Error | undefined) | undefined
  /** Done before a request reaches the API. */
  before: (request: KubeRequest) => Promise<void> = async () => {}
  /** Done before an event of a watch is reported. */
  beforeEvent: (request: Pick<KubeRequest, 'path'>) => Promise<void> = async () => {}
  /** What an answer has instead of an object: another version of the API may have others. */
  alter: (object: unknown) => unknown = (object) => object
  underWay = 0
  readonly #api: Api
  #connection = new AbortController()

  constructor(api: Api) {
    this.#api = api
  }

  /** Nothing reaches the API, and whatever was open breaks. */
  goAway(): void {
    this.failure = () => new KubeUnreachableError('Cannot reach the API: connection refused')
    this.#connection.abort(new KubeUnreachableError('Cannot go on with the watch: connection lost'))
  }

  comeBack(): void {
    this.failure = undefined
    this.#connection = new AbortController()
  }

  async send<T>(request: KubeRequest, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    this.sent.push(`${request.method} ${request.path}`)
    this.bodies.push(request.body)
    this.underWay += 1
    try {
      const failure = this.failure?.(request)
      if (failure !== undefined) throw failure
      await this.before(request)
      return (await this.#call(request)) as T
    } finally {
      this.underWay -= 1
    }
  }

  async *watch(request: Pick<KubeRequest, 'path' | 'query'>, signal: AbortSignal): AsyncIterable<WatchEvent> {
    const failure = this.failure?.({ method: 'GET', ...request })
    if (failure !== undefined) throw failure
    const connection = AbortSignal.any([signal, this.#connection.signal])
    const answer = await this.#api.handle(
      {
        method: 'GET',
        target: targetOf({ ...request, query: { ...request.query, watch: 'true' } }),
        headers: {},
        user: NODE,
        readBody: async () => new Uint8Array(),
      },
      connection,
    )
    if (typeof answer.body === 'string') throw toError(answer.status, parseExactJson(answer.body))
    for await (const text of answer.body) {
      for (const line of String(text).split('\n')) {
        if (line === '') continue
        const event = parseExactJson(line) as WatchEvent
        await this.beforeEvent(request)
        yield { ...event, object: this.alter(event.object) }
      }
    }
    connection.throwIfAborted()
  }

  async #call(request: KubeRequest): Promise<unknown> {
    const { method, body, contentType } = request
    const bytes = body === undefined ? new Uint8Array() : Buffer.from(formatExactJson(body))
    const answer = await this.#api.handle(
      {
        method,
        target: targetOf(request),
        headers: { 'content-type': contentType ?? 'application/json' },
        user: NODE,
        readBody: async () => bytes,
      },
      new AbortController().signal,
    )
    if (typeof answer.body !== 'string') throw new Error('Cannot read the answer: it is a stream')
    const value: unknown = parseExactJson(answer.body)
    if (answer.status >= 400) throw toError(answer.status, value)
    const { items } = value as { readonly items?: readonly unknown[] }
    return items === undefined
      ? this.alter(value)
      : { ...(value as object), items: items.map((item) => this.alter(item)) }
  }
}

function targetOf({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>): string {
  return `${path}?${new URLSearchParams(query).toString()}`
}

function toError(code: number, status: unknown): KubeApiError {
  const { message = '', reason = '' } = status as { message?: string; reason?: string }
  return new KubeApiError(message, { code, reason })
}

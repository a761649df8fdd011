import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Who asks, as authentication found it. */
export interface Caller {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A request that has passed authentication and authorization. */
export interface RouteRequest {
  readonly raw: IncomingMessage
  /** The parts of the path by their names in the route's pattern, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly caller: Caller
  /** Aborts when the client leaves or the agent ends. */
  readonly signal: AbortSignal
}

/** One endpoint of the kubelet's API. */
export interface Route {
  /** As in "/exec/:namespace/:pod/:container"; a last part "*rest" takes everything that follows. */
  readonly path: string
  readonly methods: readonly string[] | 'any'
  handle(request: RouteRequest, response: ServerResponse): Promise<void>
  /** For requests that ask for another protocol; without it they are answered by handle(). Resolves to how it ended, when it came to be. */
  upgrade?(request: RouteRequest, socket: Duplex, head: Buffer): Promise<string | undefined>
}

import type { Duplex } from 'node:stream'
import type { Clock } from '../../../base/async/clock.ts'
import { answerUpgrade } from '../../../protocols/streams/upgrade/answer-upgrade.ts'
import { proxyUpgrade } from '../../../protocols/streams/upgrade/proxy-upgrade.ts'
import type { ProxyUpgrade } from '../../../protocols/streams/upgrade/proxy-upgrade.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { HttpError, sendErrorAnswer, toErrorAnswer } from '../../http/error-answer.ts'
import type { Route, RouteRequest } from '../../http/route.ts'
import type { Dial, StreamServer } from '../../http/stream-server.ts'

/** What every streaming endpoint needs. */
export interface StreamRouteDeps {
  /** Connections on which nothing happens for this long are closed. */
  readonly idleMs: number
  /** A client speaks WebSocket with us, not with the runtime. */
  readonly onWebSocket?: (subresource: 'exec' | 'attach' | 'portforward') => void
  /** dialStreamServer() */
  readonly dial: Dial
  readonly clock: Clock
  readonly log: Logger
}

/** A client that waits for its streams. */
export interface StreamClient {
  readonly request: RouteRequest
  readonly socket: Duplex
  readonly head: Buffer
}

/** What differs between the endpoints. */
export interface StreamEndpoint {
  /** For the log. */
  readonly name: string
  readonly paths: readonly string[]
  /** Throws what to answer when the request cannot be served; else returns what serves it, and how it ended. */
  readonly prepare: (request: RouteRequest) => (client: StreamClient) => Promise<string>
}

/** The routes of an endpoint that answers by another protocol than HTTP. */
export function createStreamRoute({ log }: StreamRouteDeps, { name, paths, prepare }: StreamEndpoint): Route[] {
  const describe = ({ parameters, caller }: RouteRequest) => ({ endpoint: name, ...parameters, user: caller.name })
  return paths.map((path) => ({
    path,
    methods: ['GET', 'POST'],
    async handle(request, response) {
      try {
        prepare(request)
        throw new HttpError(500, 'Upgrade request required')
      } catch (error) {
        sendErrorAnswer(response, toErrorAnswer(error))
      }
    },
    async upgrade(request, socket, head) {
      try {
        const end = await prepare(request)({ request, socket, head })
        log.debug('streaming ended', { ...describe(request), end })
        return end
      } catch (error) {
        if (request.signal.aborted) {
          socket.destroy()
          return 'stopped'
        }
        log.debug('cannot stream', { ...describe(request), error })
        answerUpgrade(socket, toErrorAnswer(error))
        return undefined
      }
    },
  }))
}

/** How the request is to be passed on to the runtime. */
export function toProxied(
  { idleMs, clock }: StreamRouteDeps,
  { request, socket, head }: StreamClient,
  { connect, path }: StreamServer,
): ProxyUpgrade {
  const { raw, signal } = request
  const target = { connect, path, method: raw.method ?? 'GET', headers: {} }
  return { request: raw, socket, head, target, idleMs, clock, signal }
}

/** Leaves all to the runtime: the client speaks what the runtime understands. */
export async function proxyToRuntime(
  deps: StreamRouteDeps,
  client: StreamClient,
  server: StreamServer,
  command: Pick<ProxyUpgrade, 'outputs'> = {},
): Promise<string> {
  return await proxyUpgrade({ ...toProxied(deps, client, server), ...command })
}

import { createServer } from '../../base/builtin/http.ts'
import type { Clock } from '../../base/async/clock.ts'
import { FatalError } from '../../base/async/abort-errors.ts'
import { allowAll } from './access-check.ts'
import type { AccessCheck } from './access-check.ts'
import { ClientConnections } from '../../protocols/streams/client-connections.ts'
import type { ConnectionLimits } from '../../protocols/streams/connection-limits.ts'
import { listenOnPort } from './listen.ts'
import type { ListenOptions } from './listen.ts'
import { RequestServer } from './request-server.ts'
import type { RequestServerDeps } from './request-server.ts'
import { serveRequests } from './serve-requests.ts'

export interface PlainServerDeps extends AnsweringDeps, ListenOptions {
  /** How often to try again when the port is taken; undefined: a taken port is an error. */
  readonly bindRetryMs?: number
  /** Called when it listens, and when it could not. */
  readonly onTried?: () => void
}

/** What a server without encryption answers, and to how many clients. */
export interface AnsweringDeps extends Pick<RequestServerDeps, 'routes' | 'metrics' | 'tracer' | 'log'> {
  readonly clock: Clock
  readonly limits: ConnectionLimits
  /** Unset: all clients. */
  readonly checkAccess?: AccessCheck
}

const MAX_HEADER_BYTES = 16 * 1024
const REQUEST_TIMEOUT_MS = 30_000
const CHECK_MS = 5000
const IDLE_MS = 90_000

/** Serves without encryption to every client until the signal aborts. */
export async function runPlainServer(deps: PlainServerDeps, signal: AbortSignal): Promise<void> {
  const { log, name, address, port, clock, bindRetryMs, onTried } = deps
  const onListening = (bound: number) => {
    deps.onListening?.(bound)
    onTried?.()
  }
  for (;;) {
    try {
      await serve({ ...deps, onListening }, signal)
      return
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (bindRetryMs === undefined)
        throw new FatalError(`Cannot serve ${name} on ${address}:${port}`, { cause: error })
      log.error('cannot listen, will try again', { server: name, address, port, error })
      onTried?.()
      await clock.sleep(bindRetryMs, signal)
    }
  }
}

async function serve(deps: PlainServerDeps, signal: AbortSignal): Promise<void> {
  const { server, connections } = createPlainServer(deps, signal)
  await listenOnPort(server, connections, deps, signal)
}

/** A server of HTTP without encryption, before it listens. */
export function createPlainServer(deps: AnsweringDeps, signal: AbortSignal) {
  // Nothing that reaches into containers is served here, so there is nothing to keep record of, and no other protocol.
  const requests = new RequestServer({
    ...deps,
    type: 'readonly',
    checkAccess: deps.checkAccess ?? allowAll,
    audit: () => {},
  })
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: IDLE_MS,
    shouldUpgradeCallback: () => false,
  })
  serveRequests(server, requests, signal)
  return { server, connections: new ClientConnections(server, deps.limits) }
}

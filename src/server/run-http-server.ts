import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../telemetry/logger.ts'

/** An answer to a GET request. */
export interface Reply {
  readonly status: number
  /** The media type, without its character set. */
  readonly type: string
  readonly body: string
}

/** By path, such as "/healthz". */
export type Routes = Readonly<Record<string, (query: URLSearchParams) => Reply | Promise<Reply>>>

export interface HttpServerDeps {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly routes: Routes
  readonly log: Logger
  readonly clock: Clock
  /** How often to try again when the port is taken; undefined: a taken port is an error. */
  readonly bindRetryMs?: number
  readonly onListening?: () => void
}

const MAX_CONNECTIONS = 100
const MAX_HEADER_BYTES = 16 * 1024
const REQUEST_TIMEOUT_MS = 30_000

/** Serves plain GET requests until the signal aborts. */
export async function runHttpServer(deps: HttpServerDeps, signal: AbortSignal): Promise<void> {
  const { log, name, address, port, clock, bindRetryMs } = deps
  for (;;) {
    try {
      await serve(deps, signal)
      return
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (bindRetryMs === undefined) throw new Error(`Cannot serve ${name} on ${address}:${port}`, { cause: error })
      log.error('cannot listen, will try again', { server: name, address, port, error })
      await clock.sleep(bindRetryMs, signal)
    }
  }
}

async function serve(deps: HttpServerDeps, signal: AbortSignal): Promise<void> {
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void answer(deps, request, response),
  )
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      server.close(() => resolve())
      server.closeAllConnections()
    }
    server.once('error', (error) => {
      signal.removeEventListener('abort', stop)
      reject(error)
    })
    server.listen(deps.port, deps.address, () => {
      deps.log.info('listening', { server: deps.name, address: deps.address, port: deps.port })
      deps.onListening?.()
    })
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}

async function answer(deps: HttpServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume()
  const reply = await findReply(deps, request)
  response.writeHead(reply.status, {
    'content-type': reply.type.includes('charset=') ? reply.type : `${reply.type}; charset=utf-8`,
    'content-length': Buffer.byteLength(reply.body),
    'x-content-type-options': 'nosniff',
    ...(reply.status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : reply.body)
}

async function findReply({ routes, log, name }: HttpServerDeps, request: IncomingMessage): Promise<Reply> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  const normal = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const route = Object.hasOwn(routes, normal) ? routes[normal] : undefined
  if (route === undefined) return plain(404, '404 page not found\n')
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, '405 method not allowed\n')
  try {
    return await route(new URLSearchParams(query))
  } catch (error) {
    log.error('request failed', { server: name, path: normal, error })
    return plain(500, 'internal error, see the log of the agent\n')
  }
}

/** A short text as an answer. */
export function plain(status: number, body: string): Reply {
  return { status, type: 'text/plain', body }
}

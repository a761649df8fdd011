import { createServer } from '../../base/builtin/http.ts'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { ClientConnections } from '../../protocols/streams/client-connections.ts'
import type { PageSite, PageSiteDeps } from './page-site.ts'

export interface PageServerDeps extends PageSiteDeps {
  /** 0 takes any that is free. */
  readonly port: number
  readonly onListening: (port: number) => void | Promise<void>
}

const LOOPBACK = '127.0.0.1'
const MAX_HEADER_BYTES = 16 * 1024
const DEADLINE_MS = 15_000
const IDLE_MS = 60_000
// A page has its stream, perhaps a log, and what it asks for in between; the replaceable ones ask for nothing.
const LIMITS = { all: 200, replaceable: 50 }
const TERMINAL = /^\/api\/v1\/namespaces\/[\w.-]+\/pods\/[\w.-]+\/exec(?:\?|$)/

/** Serves the page on loopback until the signal aborts. What answers is loaded with the first request: until then this is only a port. */
export async function runPageServer(deps: PageServerDeps, signal: AbortSignal): Promise<void> {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: DEADLINE_MS,
    requestTimeout: DEADLINE_MS,
    keepAliveTimeout: IDLE_MS,
    // The sockets of the browser that is not there need no timer.
    connectionsCheckingInterval: IDLE_MS,
    shouldUpgradeCallback: ({ url = '' }) => isTerminalPath(url),
  })
  const connections = new ClientConnections(server, LIMITS)
  let site: Promise<PageSite> | undefined
  const load = () => (site ??= import('./page-site.ts').then(({ PageSite }) => new PageSite(deps, signal)))
  // Neither rejects: the file is a part of this program.
  server.on('request', (request, response) => {
    response.once('close', connections.keep(request.socket))
    void load().then((each) => each.handle(request, response))
  })
  server.on('upgrade', (request, socket, head) => {
    connections.keep(request.socket)
    socket.on('error', () => {})
    void load().then((each) => each.upgrade({ request, socket, head }))
  })
  signal.throwIfAborted()
  server.listen(deps.port, LOOPBACK)
  await once(server, 'listening', { signal })
  try {
    await deps.onListening((server.address() as AddressInfo).port)
    if (!signal.aborted) await once(signal, 'abort')
    throw signal.reason
  } finally {
    server.close()
    connections.destroyAll()
  }
}

/** Whether a request target is that of a command in a container: the only one where another protocol is spoken. */
function isTerminalPath(target: string): boolean {
  return TERMINAL.test(target)
}

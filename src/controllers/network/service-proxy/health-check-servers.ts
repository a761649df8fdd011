import { createServer } from '../../../base/builtin/http.ts'
import type { ServerResponse } from '../../../base/builtin/http.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { ClientConnections } from '../../../protocols/streams/client-connections.ts'
import type { ServiceHealthCheck } from './compute-health-checks.ts'

// Of a few balancers, that ask now and then. None is kept: a check is answered at once.
const LIMITS = { all: 100, replaceable: 50, perAddress: 20 }
const IDLE_MS = 5000
const CHECK_MS = 1000

interface HealthCheckServer {
  readonly server: ReturnType<typeof createServer>
  readonly connections: ClientConnections
}

/** Answers balancers on the ports that services have for it. */
export class HealthCheckServers {
  readonly #log: Logger
  readonly #servers = new Map<number, HealthCheckServer>()
  #checks: ReadonlyMap<number, ServiceHealthCheck> = new Map()

  constructor(log: Logger) {
    this.#log = log
  }

  /** From now on these, and no others. */
  serve(checks: ReadonlyMap<number, ServiceHealthCheck>): void {
    this.#checks = checks
    for (const [port, server] of this.#servers) if (!checks.has(port)) this.#close(port, server)
    for (const port of checks.keys()) if (!this.#servers.has(port)) this.#open(port)
  }

  close(): void {
    this.serve(new Map())
  }

  #open(port: number): void {
    const server = createServer(
      {
        requestTimeout: IDLE_MS,
        headersTimeout: IDLE_MS,
        keepAliveTimeout: IDLE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      (_, response) => answer(response, this.#checks.get(port)),
    )
    const connections = new ClientConnections(server, LIMITS)
    server.on('error', (error) => {
      // The next change of services tries again.
      this.#log.warn('cannot answer health checks of balancers', { port, error })
      this.#servers.delete(port)
    })
    this.#servers.set(port, { server, connections })
    server.listen(port)
  }

  #close(port: number, { server, connections }: HealthCheckServer): void {
    this.#servers.delete(port)
    server.close()
    connections.destroyAll()
  }
}

function answer(response: ServerResponse, check: ServiceHealthCheck | undefined): void {
  const { namespace = '', name = '', localEndpoints = 0 } = check ?? {}
  response.writeHead(localEndpoints > 0 ? 200 : 503, {
    'Content-Type': 'application/json',
    'X-Content-Type-Options': 'nosniff',
    'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
  })
  response.end(`${JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy: true })}\n`)
}

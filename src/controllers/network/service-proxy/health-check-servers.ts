import { createServer } from '../../../base/builtin/http.ts'
import type { ServerResponse } from '../../../base/builtin/http.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { ServiceHealthCheck } from './compute-health-checks.ts'

const MOST_CONNECTIONS = 50
const IDLE_MS = 5000

type Server = ReturnType<typeof createServer>

/** Answers balancers on the ports that services have for it. */
export class HealthCheckServers {
  readonly #log: Logger
  readonly #servers = new Map<number, Server>()
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
      { requestTimeout: IDLE_MS, headersTimeout: IDLE_MS, keepAliveTimeout: IDLE_MS },
      (_, response) => answer(response, this.#checks.get(port)),
    )
    server.maxConnections = MOST_CONNECTIONS
    server.on('error', (error) => {
      // The next change of services tries again.
      this.#log.warn('cannot answer health checks of balancers', { port, error })
      this.#servers.delete(port)
    })
    this.#servers.set(port, server)
    server.listen(port)
  }

  #close(port: number, server: Server): void {
    this.#servers.delete(port)
    server.close()
    server.closeAllConnections()
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

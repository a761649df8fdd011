import { once } from 'node:events'
import { createServer as createSecureServer } from 'node:https'
import type { Server as SecureServer } from 'node:https'
import type { AddressInfo, Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../base/async/clock.ts'
import { Agent, createServer } from '../../../base/builtin/http.ts'
import type { IncomingMessage } from '../../../base/builtin/http.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { ClientConnections } from '../../../protocols/streams/client-connections.ts'
import type { ConnectionLimits } from '../../../protocols/streams/connection-limits.ts'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import { CertificateTable } from './certificate-table.ts'
import type { PemPair } from './certificate-table.ts'
import { computePassedHeaders, plainAddress } from './compute-passed-headers.ts'
import { computeTarget, findBackend } from './compute-route-match.ts'
import type { IngressPorts, IngressProtocol, PortProblem } from './ingress-ports.ts'
import type { RouteBackend, IngressProblem, IngressRoutes } from './ingress-route.ts'
import * as limits from './ingress-limits.ts'
import { passIngressRequest, sayError } from './pass-ingress-request.ts'
import { passIngressUpgrade, sayRaw } from './pass-ingress-upgrade.ts'

export interface ProxyDeps {
  readonly clock: Clock
  readonly log: Logger
  /** A port that a listener of this process has at an address of its own; the ingress gets all other addresses. */
  readonly sharedPort?: number | undefined
  /** Of clients, for each port; the usual ones without it. */
  readonly connections?: ConnectionLimits | undefined
  readonly fallbackCertificate: () => Promise<PemPair>
  /** The endpoints of a backend as they are now. */
  readonly targetsOf: (backend: RouteBackend & { readonly kind: 'service' }) => readonly EndpointTarget[]
}

/** Where a request goes, or what is answered to it. */
type Choice =
  | {
      readonly kind: 'go'
      readonly targets: readonly EndpointTarget[]
      readonly headers: readonly string[]
      readonly uri: string
    }
  | { readonly kind: 'no'; readonly status: number; readonly what: string }

/** Passes requests from outside on to pods, by their host and path. */
export class IngressProxy {
  readonly #deps: ProxyDeps
  readonly #kept = new Agent({
    keepAlive: true,
    maxFreeSockets: limits.MOST_KEPT_PER_POD,
    timeout: limits.KEPT_MS,
  })
  readonly #fresh = new Agent({ keepAlive: false })
  readonly #servers: NetServer[] = []
  readonly #connections: ClientConnections[] = []
  readonly #stop = new AbortController()
  /** How often each backend was used, so that its pods take turns. */
  readonly #turns = new Map<string, number>()
  #table: IngressRoutes = { hosts: new Map(), fallback: undefined }
  #open: IngressPorts = { http: undefined, https: undefined }
  #secure: SecureServer | undefined
  #certificates: CertificateTable | undefined

  constructor(deps: ProxyDeps) {
    this.#deps = deps
  }

  route(table: IngressRoutes): void {
    this.#table = table
    this.#turns.clear()
  }

  /** Serves these certificates from the next handshake on. Returns what is wrong with which. */
  certify(...args: Parameters<CertificateTable['use']>): readonly IngressProblem[] {
    const table = this.#certificates
    if (table === undefined) return []
    const before = table.defaultPair
    const problems = table.use(...args)
    if (table.defaultPair !== before) this.#secure?.setSecureContext(table.defaultPair)
    return problems
  }

  /** Those that are listened on. */
  get ports(): IngressPorts {
    return this.#open
  }

  /** Listens on those of the ports that are not open yet, each by itself. Returns those that cannot be. */
  async open(ports: IngressPorts): Promise<readonly PortProblem[]> {
    const problems: PortProblem[] = []
    for (const protocol of ['http', 'https'] as const) {
      const port = ports[protocol]
      if (port === undefined || this.#open[protocol] !== undefined) continue
      try {
        const server = protocol === 'http' ? this.#createPlain() : await this.#createSecure()
        this.#open = { ...this.#open, [protocol]: await this.#listen(server, port) }
      } catch (error) {
        problems.push({ protocol, port, why: explain(error) })
      }
    }
    return problems
  }

  close(): void {
    this.#stop.abort(new Error('the ingress ends'))
    for (const server of this.#servers) server.close()
    for (const connections of this.#connections) connections.destroyAll()
    for (const agent of [this.#kept, this.#fresh]) agent.destroy()
  }

  #createPlain(): NetServer {
    const server = createServer(this.#options())
    this.#serve(server, 'http')
    return server
  }

  async #createSecure(): Promise<NetServer> {
    const certificates = (this.#certificates ??= new CertificateTable(await this.#deps.fallbackCertificate()))
    this.#secure = createSecureServer({
      ...this.#options(),
      ...certificates.defaultPair,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: limits.HEADERS_MS,
      SNICallback: (name, done) => done(null, certificates.find(name)),
    })
    this.#serve(this.#secure, 'https')
    return this.#secure
  }

  #options() {
    return {
      maxHeaderSize: limits.MOST_HEADER_BYTES,
      headersTimeout: limits.HEADERS_MS,
      connectionsCheckingInterval: limits.CHECK_MS,
      keepAliveTimeout: limits.KEEP_ALIVE_MS,
      // A large upload may take its time; one that stands still does not.
      requestTimeout: 0,
      // curl offers HTTP/2 this way, and goes on without it.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() !== 'h2c',
    }
  }

  #serve(server: ReturnType<typeof createServer> | SecureServer, protocol: IngressProtocol): void {
    const connections = new ClientConnections(server, this.#deps.connections ?? limits.CONNECTIONS)
    this.#connections.push(connections)
    server.setTimeout(limits.IDLE_MS)
    server.on('request', (request, response) => {
      response.once('close', connections.keep(request.socket))
      const choice = this.#choose(request, protocol)
      if (choice.kind === 'go')
        passIngressRequest({ request, response, ...choice }, { kept: this.#kept, fresh: this.#fresh })
      else sayError(response, choice.status, choice.what)
    })
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const { clock } = this.#deps
      const choice = this.#choose(request, protocol)
      if (choice.kind === 'go') {
        connections.keep(request.socket)
        passIngressUpgrade({ request, socket, head, clock, ...choice }, this.#stop.signal)
      } else sayRaw(socket, choice.status, choice.what)
    })
  }

  #choose(request: IncomingMessage, protocol: IngressProtocol): Choice {
    const target = computeTarget(request.url ?? '', request.headers.host)
    if (target === undefined) return { kind: 'no', status: 400, what: 'the request names no host and path' }
    const backend = findBackend(this.#table, target)
    if (backend === undefined) return { kind: 'no', status: 404, what: 'no Ingress is for this host and path' }
    if (backend.kind === 'refused') return { kind: 'no', status: 503, what: backend.why }
    const targets = this.#deps.targetsOf(backend)
    if (targets.length === 0) return { kind: 'no', status: 503, what: 'the service has no endpoint that is ready' }
    const { remoteAddress, localPort = 0 } = request.socket
    const from = { target, clientAddress: plainAddress(remoteAddress), protocol, port: localPort }
    const headers = computePassedHeaders(request.rawHeaders, from)
    return { kind: 'go', targets: this.#inTurn(backend, targets), headers, uri: target.uri }
  }

  /** Begins with another one each time. */
  #inTurn(
    { namespace, name, port }: RouteBackend & { readonly kind: 'service' },
    targets: readonly EndpointTarget[],
  ): readonly EndpointTarget[] {
    const key = `${namespace}/${name}/${port}`
    const turn = (this.#turns.get(key) ?? 0) % targets.length
    this.#turns.set(key, turn + 1)
    return [...targets.slice(turn), ...targets.slice(0, turn)]
  }

  async #listen(server: NetServer, port: number): Promise<number> {
    // On all addresses of the machine, of both families, also those to come; the listener of a single address goes first there.
    // Not shared without need: any other program of root could then take a part of the connections.
    server.listen({ port, reusePort: port === this.#deps.sharedPort })
    await once(server, 'listening')
    this.#servers.push(server)
    server.on('error', (error) => this.#deps.log.warn('the ingress has trouble with connections', { error }))
    return (server.address() as AddressInfo).port
  }
}

function explain(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRINUSE' ? 'it is taken by another program' : errorMessage(error)
}

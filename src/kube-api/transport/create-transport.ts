import type { Clock } from '../../async/clock.ts'
import type { TaskGroup } from '../../async/task-group.ts'
import { withDeadline } from '../../async/deadline.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { Connector } from './connector.ts'
import type { ConnectorDeps } from './connector.ts'
import type { ClientCertificate, Credentials, CredentialsProvider } from './credentials.ts'
import { Http1Connections } from './http1-connections.ts'
import { Http2Connections } from './http2-connections.ts'
import { BrokenConnectionError } from './transport.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

export interface TransportDeps extends Omit<ConnectorDeps, 'clock'> {
  readonly credentials: CredentialsProvider
  /** False with DISABLE_HTTP2: every request then has a connection for itself. */
  readonly http2: boolean
  /** Connections live in it and end with it. */
  readonly tasks: Pick<TaskGroup, 'run' | 'signal'>
  readonly clock: Clock
  readonly log: Logger
}

// A program that gives credentials has a minute.
const CREDENTIALS_MS = 65_000

/** The connections to one API server: HTTP/2 when it speaks it, for many requests at a time; otherwise HTTP/1.1. */
export function createTransport(deps: TransportDeps): Transport {
  return new NegotiatedTransport(deps)
}

class NegotiatedTransport implements Transport {
  readonly #deps: TransportDeps
  readonly #http1: Http1Connections
  readonly #http2: Http2Connections
  readonly #isHttp1Only: boolean
  #certificate: ClientCertificate | undefined

  constructor(deps: TransportDeps) {
    const { server, tasks, clock } = deps
    this.#deps = deps
    const connector = new Connector(deps)
    this.#isHttp1Only = connector.isPlain || !deps.http2
    const connect = (protocols: readonly ('h2' | 'http/1.1')[]) =>
      connector.connect({ certificate: this.#certificate, protocols }, tasks.signal)
    this.#http1 = new Http1Connections({ connect: () => connect(['http/1.1']) })
    this.#http2 = new Http2Connections({
      origin: server.origin,
      connect: () => connect(['h2', 'http/1.1']),
      onHttp1: (socket) => this.#http1.adopt(socket),
      tasks,
      clock,
    })
    tasks.signal.addEventListener('abort', () => this.#destroyAll('the client ends'), { once: true })
  }

  get host(): string {
    return this.#deps.server.host
  }

  async request(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    const { credentials } = this.#deps
    const used = await this.#readCredentials(signal)
    const response = await this.#send(request, used, signal)
    if (response.status !== 401 || !(await credentials.onUnauthorized(used, signal))) return response
    for await (const _ of response.body) break
    return await this.#send(request, await this.#readCredentials(signal), signal)
  }

  closeAll(why: string): void {
    this.#deps.log.info('all connections to the API server are closed', { why })
    this.#destroyAll(why)
  }

  async #readCredentials(signal: AbortSignal): Promise<Credentials> {
    const { credentials, clock } = this.#deps
    try {
      const limit = { clock, ms: CREDENTIALS_MS, what: 'reading credentials' }
      return await withDeadline(limit, (until) => credentials.current(until), signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const why = Error.isError(error) ? error.message : String(error)
      throw new BrokenConnectionError(`Cannot have credentials for "${this.host}": ${why}`, 'connecting', {
        cause: error,
      })
    }
  }

  async #send(request: TransportRequest, used: Credentials, signal: AbortSignal): Promise<TransportResponse> {
    this.#useCertificate(used.certificate)
    const { server } = this.#deps
    const target = `${server.pathname.replace(/\/$/, '')}${request.target}`
    const outgoing = { ...request, target }
    const headers = { ...request.headers, ...used.headers }
    // As long as there is a connection to a server that speaks HTTP/1.1, it is not asked again.
    if (!this.#isHttp1Only && this.#http1.size === 0) {
      const connection = await this.#http2.acquire(signal)
      if (connection !== undefined) return await connection.request(outgoing, headers, signal)
    }
    return await this.#http1.request(outgoing, { ...headers, host: server.host }, signal)
  }

  /** Whoever has a new certificate is to be known by it everywhere. */
  #useCertificate(certificate: ClientCertificate | undefined): void {
    const before = this.#certificate
    this.#certificate = certificate
    const isSame = before?.certificatePem === certificate?.certificatePem && before?.keyPem === certificate?.keyPem
    if (before !== undefined && !isSame) this.closeAll('the client has a new certificate')
  }

  #destroyAll(why: string): void {
    this.#http1.destroyAll(why)
    this.#http2.destroyAll(why)
  }
}

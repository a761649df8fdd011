import type { Socket } from 'node:net'
import type { Clock } from '../../../base/async/clock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { Connector } from './connector.ts'
import type { ConnectorDeps } from './connector.ts'
import type { ClientCertificate, KubeCredentials, CredentialsProvider } from './kube-credentials.ts'
import { Connections } from './connections.ts'
import { BrokenConnectionError } from './transport.ts'
import type { TransportRequest, TransportResponse, UpgradeConnection, UpgradeTransport } from './transport.ts'

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
export function createTransport(deps: TransportDeps): UpgradeTransport {
  return new NegotiatedTransport(deps)
}

class NegotiatedTransport implements UpgradeTransport {
  readonly #deps: TransportDeps
  readonly #connector: Connector
  readonly #retired = new Set<Connections>()
  #current: Connections
  #certificate: ClientCertificate | undefined
  /** Since when no connection could be made. */
  #lostAt: number | undefined

  constructor(deps: TransportDeps) {
    this.#deps = deps
    this.#connector = new Connector(deps)
    this.#current = this.#createConnections(undefined)
    deps.tasks.signal.addEventListener('abort', () => this.#destroyAll('the client ends'), { once: true })
  }

  get #base(): string {
    return this.#deps.server.pathname.replace(/\/$/, '')
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

  async openUpgradeConnection(signal: AbortSignal): Promise<UpgradeConnection> {
    const { certificate, headers } = await this.#readCredentials(signal)
    const socket = await this.#connector.connect({ certificate, protocols: ['http/1.1'] }, signal)
    return { socket, headers, base: this.#base }
  }

  closeAll(why: string): void {
    this.#deps.log.info('all connections to the API server are closed', { why })
    this.#destroyAll(why)
  }

  async #readCredentials(signal: AbortSignal): Promise<KubeCredentials> {
    const { credentials, clock } = this.#deps
    try {
      const limit = { clock, ms: CREDENTIALS_MS, what: 'reading credentials' }
      return await withDeadline(limit, (until) => credentials.current(until), signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const why = errorMessage(error)
      throw new BrokenConnectionError(`Cannot have credentials for "${this.host}": ${why}`, 'connecting', {
        cause: error,
      })
    }
  }

  async #send(request: TransportRequest, used: KubeCredentials, signal: AbortSignal): Promise<TransportResponse> {
    this.#useCertificate(used.certificate)
    const target = `${this.#base}${request.target}`
    return await this.#current.request({ ...request, target }, { ...request.headers, ...used.headers }, signal)
  }

  /** A new certificate is to be used everywhere, soon: requests under way may end with the old one. */
  #useCertificate(certificate: ClientCertificate | undefined): void {
    const before = this.#certificate
    const isSame = before?.certificatePem === certificate?.certificatePem && before?.keyPem === certificate?.keyPem
    if (isSame) return
    this.#certificate = certificate
    const old = this.#current
    this.#current = this.#createConnections(certificate)
    const why = 'the client has a new certificate'
    if (before !== undefined) this.#deps.log.info('connecting to the API server again', { why })
    this.#retired.add(old)
    this.#deps.tasks.run('old connections to the API server', async (signal) => {
      await old.retire(why, signal)
      this.#retired.delete(old)
    })
  }

  #createConnections(certificate: ClientCertificate | undefined): Connections {
    const { http2, server, tasks, clock } = this.#deps
    const connector = this.#connector
    return new Connections({
      server,
      isHttp1Only: connector.isPlain || !http2,
      connect: (protocols) => this.#observe(connector.connect({ certificate, protocols }, tasks.signal)),
      tasks,
      clock,
    })
  }

  /** Says once that the server is away, and once that it is back, however many ask for it. */
  async #observe(connecting: Promise<Socket>): Promise<Socket> {
    const { log, clock } = this.#deps
    try {
      const socket = await connecting
      if (this.#lostAt !== undefined) {
        const seconds = Math.round((clock.monotonic() - this.#lostAt) / 1000)
        log.info('the API server is reached again', { host: this.host, seconds })
      }
      this.#lostAt = undefined
      return socket
    } catch (error) {
      if (this.#lostAt === undefined && error instanceof BrokenConnectionError) {
        this.#lostAt = clock.monotonic()
        log.warn('the API server is not reached, it is tried again', { host: this.host, error })
      }
      throw error
    }
  }

  #destroyAll(why: string): void {
    for (const connections of [this.#current, ...this.#retired]) connections.destroyAll(why)
  }
}

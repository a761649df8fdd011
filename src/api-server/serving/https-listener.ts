import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../base/async/clock.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { ANONYMOUS_USER } from '../auth/user-names.ts'
import { ClientConnections } from '../../protocols/streams/client-connections.ts'
import type { ConnectionDeadlines } from '../../protocols/streams/connection-limits.ts'
import type { ClientCredentials } from '../auth/create-api-authenticator.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { Api } from '../rest/create-api.ts'
import { serveRequest } from '../rest/serve-http.ts'
import type { ServedRequest, ServedResponse } from '../rest/serve-http.ts'
import { createSecureServer } from './create-secure-server.ts'
import type { UpgradeRequest } from './serve-upgrade.ts'
import { authorizationOf } from './token-protocol.ts'

export interface ListenerDeps {
  readonly api: Api
  readonly authenticate: (credentials: ClientCredentials) => RequestUser
  /** Takes requests that ask for another protocol; never rejects. */
  readonly upgrade: (upgrade: UpgradeRequest) => Promise<void>
  /** The authority that signs the certificates of clients, in PEM form. */
  readonly authorityPem: string
  readonly certificate: KeyedCertificate
  readonly deadlines?: ConnectionDeadlines | undefined
  readonly clock: Clock
  readonly log: Logger
}

// A node's clients need a few dozen. One in its handshake costs up to 45 kB, most of it in OpenSSL.
const LIMITS = { all: 500, replaceable: 100 }
// What is being answered gets this long when the server ends.
const STOP_MS = 700

const certificates = new WeakMap<object, X509Certificate>()

/** The port of the API: HTTPS, by HTTP/2 or HTTP/1.1, with certificates of clients asked for and not demanded. */
export class HttpsListener {
  readonly #deps: ListenerDeps
  readonly #server: Http2SecureServer
  readonly #connections: ClientConnections
  #certificatePem: string
  #isClosing = false
  readonly #doors: Server[] = []

  constructor(deps: ListenerDeps) {
    this.#deps = deps
    this.#certificatePem = deps.certificate.certificatePem
    this.#server = createSecureServer({ ...deps, secrets: secretsOf(deps, deps.certificate) })
    this.#server.on('request', (request: ServedRequest, response: ServedResponse) => {
      if (this.#isClosing && request.httpVersionMajor === 1) response.setHeader('connection', 'close')
      void serveRequest(deps.api, (each) => this.#authenticate(each), request, response)
    })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void deps.upgrade({ request, socket, head, user: this.#authenticate(request) })
    })
    this.#connections = new ClientConnections(this.#server, LIMITS)
    this.#server.on('tlsClientError', (error) => deps.log.debug('a handshake with the API failed', { error }))
  }

  /** Takes another certificate for connections to come. */
  reload(certificate: KeyedCertificate): void {
    if (certificate.certificatePem === this.#certificatePem) return
    this.#certificatePem = certificate.certificatePem
    this.#server.setSecureContext(secretsOf(this.#deps, certificate))
  }

  /** Begins to listen; gives the port. Port 0 takes any that is free. */
  async listen(address: string, port: number): Promise<number> {
    try {
      this.#server.listen(port, address)
      await once(this.#server, 'listening')
    } catch (error) {
      throw new Error(`Cannot serve the API on ${address}:${port}`, { cause: error })
    }
    const bound = (this.#server.address() as AddressInfo).port
    this.#deps.log.info('the API listens', { address, port: bound })
    return bound
  }

  /** Takes connections at one more address. With `sharesPort` another listener that does may have the port at all other addresses. */
  async alsoListen(address: string, port: number, { sharesPort = false } = {}): Promise<void> {
    const door = createServer((socket) => this.#server.emit('connection', socket))
    door.maxConnections = LIMITS.all
    door.listen({ port, host: address, reusePort: sharesPort })
    await once(door, 'listening')
    // A connection that cannot be taken is no reason to leave the others.
    door.on('error', (error) => this.#deps.log.warn('cannot take a connection', { address, port, error }))
    this.#doors.push(door)
    this.#deps.log.info('the API listens', { address, port })
  }

  /** Serves until the signal aborts; then gives what is being answered a moment. */
  async run(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort')
    await this.close()
    throw signal.reason
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#isClosing = true
    using scope = new AbortScope(new AbortController().signal)
    for (const door of this.#doors) door.close()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await Promise.race([closed, this.#deps.clock.sleep(STOP_MS, scope.signal)])
    // Also those that are in their handshake, which the server itself does not know yet.
    this.#connections.destroyAll()
    await closed
  }

  #authenticate(request: ServedRequest): RequestUser {
    const user = this.#deps.authenticate(credentialsOf(request))
    if (user !== ANONYMOUS_USER) this.#connections.keep(request.socket)
    return user
  }
}

function secretsOf({ authorityPem }: ListenerDeps, { certificatePem, keyPem }: KeyedCertificate) {
  return { cert: certificatePem, key: keyPem, ca: authorityPem }
}

function credentialsOf(request: ServedRequest): ClientCredentials {
  const socket = request.socket as TLSSocket
  return {
    certificate: certificateOf(request, socket),
    certificateFault: socket.authorized ? undefined : String(socket.authorizationError),
    authorization: request.headers.authorization ?? authorizationOf(request.headers['sec-websocket-protocol']),
  }
}

/** The same for all requests of a connection: reading it again would make another object, and all that is known of it would be read again. */
function certificateOf(request: ServedRequest, socket: TLSSocket): X509Certificate | undefined {
  // With HTTP/2 each request shows a socket of its own, which stands for that of the session.
  const connection = 'stream' in request ? (request.stream.session ?? socket) : socket
  const certificate = certificates.get(connection) ?? socket.getPeerX509Certificate()
  if (certificate !== undefined) certificates.set(connection, certificate)
  return certificate
}

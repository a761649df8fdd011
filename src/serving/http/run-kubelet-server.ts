import { constants } from 'node:crypto'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { FatalError } from '../../base/async/abort-errors.ts'
import { clearHandshakeFaults } from '../../base/builtin/clear-handshake-faults.ts'
import { ClientConnections } from '../../protocols/streams/client-connections.ts'
import { toServerTimeouts } from '../../protocols/streams/connection-limits.ts'
import type { ConnectionDeadlines, ConnectionLimits } from '../../protocols/streams/connection-limits.ts'
import type { AccessCheck } from './access-check.ts'
import { listenOnPort } from './listen.ts'
import type { ListenOptions } from './listen.ts'
import { RequestServer } from './request-server.ts'
import type { RequestServerDeps } from './request-server.ts'
import { serveRequests } from './serve-requests.ts'

/** Something that may be replaced while the server runs. */
export interface Replaceable<T> {
  /** Undefined while there is none. */
  current(): T | undefined
  /** Calls the listener after each change; gives the function that ends it. */
  onChange(listener: () => void): () => void
}

export interface ServingCertificate {
  readonly certificatePem: string
  readonly keyPem: string
}

/** What is allowed of TLS, in OpenSSL's names. */
export interface TlsSettings {
  readonly minVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'
  readonly ciphers?: string
  readonly groups?: string
}

export interface KubeletServerDeps extends Omit<RequestServerDeps, 'type'>, Omit<ListenOptions, 'name'> {
  readonly certificates: Replaceable<ServingCertificate>
  /** Who signs the certificates of clients, in PEM form; undefined: no client is asked for one. */
  readonly clientCa: Replaceable<string> | undefined
  readonly tls: TlsSettings
  readonly limits: ConnectionLimits
  readonly deadlines?: ConnectionDeadlines | undefined
}

const DEADLINES = { handshakeMs: 10_000, headersMs: 30_000, requestMs: 4 * 3_600_000, idleMs: 90_000 }
// Commands come in the address, so this is larger than usual; smaller than the megabyte of the Go kubelet, since clients without credentials may send it.
const MAX_HEADER_BYTES = 256 * 1024

/** The kubelet's API: HTTPS, HTTP/1.1 only, since upgrades need it. Until there is a certificate, handshakes fail. */
export async function runKubeletServer(deps: KubeletServerDeps, signal: AbortSignal): Promise<void> {
  const { log, certificates, clientCa } = deps
  const knowing: AccessCheck = async (request, path, s) => {
    const access = await deps.checkAccess(request, path, s)
    if (access.refusal === undefined) connections.keep(request.socket)
    return access
  }
  const requests = new RequestServer({ ...deps, checkAccess: knowing, type: 'readwrite' })
  const server = createKubeletServer(deps, requests)
  clearHandshakeFaults(server)
  const connections = new ClientConnections(server, deps.limits)
  serveRequests(server, requests, signal)
  server.on('tlsClientError', (error, socket) =>
    log.debug('handshake failed', { from: (socket as Socket).remoteAddress, error }),
  )
  const reload = () => {
    try {
      server.setSecureContext(toSecrets(deps))
      log.info('takes other certificates from now on', { server: 'kubelet' })
    } catch (error) {
      log.error('cannot use the new certificates, keeps the old ones', { error })
    }
  }
  const unsubscribe = [certificates.onChange(reload), clientCa?.onChange(reload)]
  if (certificates.current() === undefined)
    log.warn('there is no serving certificate yet, clients cannot connect until there is', { port: deps.port })
  try {
    await listenOnPort(server, connections, { ...deps, name: 'kubelet' }, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new FatalError(`Cannot serve the kubelet's API on ${deps.address}:${deps.port}`, { cause: error })
  } finally {
    for (const end of unsubscribe) end?.()
  }
}

function createKubeletServer(deps: KubeletServerDeps, requests: RequestServer): Server {
  const deadlines = deps.deadlines ?? DEADLINES
  return createServer({
    ...toSecrets(deps),
    ALPNProtocols: ['http/1.1'],
    requestCert: deps.clientCa !== undefined,
    // Who has none, or a bad one, may still have a token.
    rejectUnauthorized: false,
    ...toServerTimeouts(deadlines),
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: deadlines.idleMs,
    insecureHTTPParser: false,
    shouldUpgradeCallback: (request) => requests.wantsUpgrade(request),
  })
}

/** No session is ever resumed: each client shows its certificate again, to the current authorities. */
function toSecrets({ certificates, clientCa, tls }: KubeletServerDeps): SecureContextOptions {
  const certificate = certificates.current()
  const ca = clientCa?.current()
  return {
    minVersion: tls.minVersion,
    secureOptions: constants.SSL_OP_NO_TICKET,
    ...(tls.ciphers === undefined ? {} : { ciphers: tls.ciphers }),
    ...(tls.groups === undefined ? {} : { ecdhCurve: tls.groups }),
    ...(certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }),
    ...(ca === undefined ? {} : { ca }),
  }
}

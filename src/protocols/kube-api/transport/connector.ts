import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect as connectTcp, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { request } from '../../../base/builtin/http.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import type { OnHostResolved } from '../client-metrics.ts'
import type { ClientCertificate } from './kube-credentials.ts'
import { BrokenConnectionError } from './transport.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** Whose certificates a server may show: those signed by authorities, those that the machine trusts, or any. */
export type Trust =
  | { readonly kind: 'authorities'; readonly pem: string }
  | { readonly kind: 'machine'; readonly pems: readonly string[] }
  | { readonly kind: 'anyone' }

export interface ConnectorDeps {
  readonly server: URL
  /** The name in the server's certificate, when it is another than in its address. */
  readonly serverName: string | undefined
  readonly readTrust: () => Promise<Trust>
  readonly proxy: URL | undefined
  readonly onHostResolved?: OnHostResolved
  readonly clock: Clock
}

export interface ConnectOptions {
  readonly certificate: ClientCertificate | undefined
  /** In order of preference. */
  readonly protocols: readonly ('h2' | 'http/1.1')[]
}

const REACH_MS = 10_000
const HANDSHAKE_MS = 10_000
// For connections that cannot be pinged: after 15 s of silence three questions of the kernel, 5 s apart.
const KEEP_ALIVE = { first: 15_000, interval: 5000, count: 3 }

/** Makes connections to one server: through a proxy if there is one, with TLS if the address says so. */
export class Connector {
  readonly #deps: ConnectorDeps

  constructor(deps: ConnectorDeps) {
    this.#deps = deps
  }

  get isPlain(): boolean {
    return this.#deps.server.protocol === 'http:'
  }

  /** Fails with a BrokenConnectionError. */
  async connect(options: ConnectOptions, signal: AbortSignal): Promise<Socket> {
    try {
      const socket = await this.#open(options, signal)
      // It may break while it is idle; a request in use sees the error too.
      socket.on('error', () => {})
      return socket
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const why = errorMessage(error)
      throw new BrokenConnectionError(
        `Cannot reach the API server "${this.#deps.server.origin}": ${why}`,
        'connecting',
        { cause: error },
      )
    }
  }

  async #open(options: ConnectOptions, signal: AbortSignal): Promise<Socket> {
    const { clock, proxy, server } = this.#deps
    const resolved = this.#createLookupReport(proxy ?? server)
    const trust = this.isPlain ? undefined : await this.#deps.readTrust()
    const socket = await withDeadline(
      { clock, ms: REACH_MS, what: 'the connection' },
      (until) => (proxy === undefined ? reach(server, resolved, until) : reachThrough(proxy, server, resolved, until)),
      signal,
    )
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE.first, KEEP_ALIVE.interval, KEEP_ALIVE.count)
    if (trust === undefined) return socket
    const secure = this.#toTls(trust, options)
    return await withDeadline(
      { clock, ms: HANDSHAKE_MS, what: 'the TLS handshake' },
      (until) => shakeHands({ ...secure, socket }, until),
      signal,
    )
  }

  /** An address is not looked up. */
  #createLookupReport(url: URL): () => void {
    const { clock, onHostResolved } = this.#deps
    const startedAt = clock.monotonic()
    if (isIP(hostOf(url)) !== 0) return () => {}
    return () => onHostResolved?.({ host: url.host, seconds: (clock.monotonic() - startedAt) / 1000 })
  }

  #toTls(trust: Trust, { certificate, protocols }: ConnectOptions): ConnectionOptions {
    const { server, serverName } = this.#deps
    const host = hostOf(server)
    return {
      host,
      // An address is not a name; it is matched in the certificate as an address.
      servername: serverName ?? (isIP(host) === 0 ? host : ''),
      ALPNProtocols: [...protocols],
      minVersion: 'TLSv1.2',
      rejectUnauthorized: trust.kind !== 'anyone',
      // As in Go, an authority that is named is trusted, also when another one signed it.
      allowPartialTrustChain: true,
      ...(trust.kind === 'authorities' && { ca: trust.pem }),
      ...(trust.kind === 'machine' && trust.pems.length > 0 && { ca: [...trust.pems] }),
      ...(certificate !== undefined && { cert: certificate.certificatePem, key: certificate.keyPem }),
    }
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80))
}

async function reach(url: URL, onResolved: () => void, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host: hostOf(url), port: portOf(url) })
  socket.once('lookup', onResolved)
  await orDestroy(socket, once(socket, 'connect', { signal }))
  return socket
}

async function shakeHands(options: ConnectionOptions, signal: AbortSignal): Promise<TLSSocket> {
  const socket = connectTls(options)
  const closed = once(socket, 'close', { signal }).then(() => {
    throw new Error('the connection was closed during the TLS handshake')
  })
  await orDestroy(socket, Promise.race([once(socket, 'secureConnect', { signal }), closed]))
  return socket
}

/** Asks a proxy for a tunnel. */
async function reachThrough(proxy: URL, server: URL, onResolved: () => void, signal: AbortSignal): Promise<Socket> {
  const plain = await reach(proxy, onResolved, signal)
  const host = hostOf(proxy)
  const toProxy =
    proxy.protocol === 'https:'
      ? await shakeHands({ socket: plain, host, servername: isIP(host) === 0 ? host : '' }, signal)
      : plain
  const authority = `${server.hostname}:${portOf(server)}`
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const headers = {
    host: authority,
    ...(login !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
  }
  const asked = request({ method: 'CONNECT', path: authority, headers, createConnection: () => toProxy })
  asked.end()
  const [answer] = (await orDestroy(toProxy, once(asked, 'connect', { signal }))) as [IncomingMessage]
  if (answer.statusCode === 200) return toProxy
  toProxy.destroy()
  throw new Error(`the proxy "${proxy.host}" answered with status ${answer.statusCode}, expected 200`)
}

/** What a socket waits for; one that fails is not left open. */
async function orDestroy<T>(socket: Socket, ready: Promise<T>): Promise<T> {
  try {
    return await ready
  } catch (error) {
    // It may fail again while it goes.
    socket.on('error', () => {})
    socket.destroy()
    throw error
  }
}

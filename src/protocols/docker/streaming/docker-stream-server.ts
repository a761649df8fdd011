import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer } from '../../../base/builtin/http.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { answerUpgrade, formatHead } from '../../streams/upgrade/answer-upgrade.ts'
import { WebSocketConnection } from '../../streams/websocket/websocket-connection.ts'
import {
  findHandshakeFault,
  formatHandshake,
  listWebSocketProtocols,
} from '../../streams/websocket/websocket-handshake.ts'
import { servePortForward } from './serve-port-forward.ts'
import type { DialPod } from './serve-port-forward.ts'
import { serveSpdyCommand } from './serve-spdy-command.ts'
import type { ServedCommand } from './serve-spdy-command.ts'
import { serveWebSocketCommand } from './serve-websocket-command.ts'
import { serveWebSocketPorts } from './serve-websocket-ports.ts'

/** What waits for the client that was given its address. */
type Served =
  | ({ readonly kind: 'command' } & ServedCommand)
  | {
      readonly kind: 'ports'
      /** Those that were asked for at once; empty where each stream names its own. */
      readonly ports: readonly number[]
      readonly open: () => Promise<{ readonly dial: DialPod } & Disposable>
    }

interface Waiting {
  readonly served: Served
  readonly until: number
}

const TOKEN_BYTES = 16
const LIFE_MS = 60_000
const PROTOCOL = 'X-Stream-Protocol-Version'
const COMMAND_PROTOCOL = /^(?:v([2-5])\.)?channel\.k8s\.io$/
const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io'
const PORTS_PROTOCOL = 'v4.channel.k8s.io'

/**
 * Where commands and ports are streamed from, on the loopback of the node: Docker speaks a protocol of its own, and what the agent passes on
 * to a runtime is that of Kubernetes' clients. Each address works once and for a minute. Listens from the first use on.
 */
export class DockerStreamServer implements Disposable {
  readonly #waiting = new Map<string, Waiting>()
  readonly #clock: Clock
  readonly #log: Logger
  #server: Promise<{ readonly server: Server; readonly port: number }> | undefined

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock
    this.#log = log
  }

  /** The address at which this is served, once. */
  async offer(served: Served): Promise<string> {
    this.#server ??= this.#listen()
    const { port } = await this.#server
    const now = this.#clock.monotonic()
    for (const [token, { until }] of this.#waiting) if (until < now) this.#waiting.delete(token)
    const token = randomBytes(TOKEN_BYTES).toString('hex')
    this.#waiting.set(token, { served, until: now + LIFE_MS })
    return `http://127.0.0.1:${port}/${token}`
  }

  async #listen() {
    const server = createServer((_request, response) => response.writeHead(400).end('Upgrade request required'))
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {})
      this.#serve(request, socket, head).catch((error: unknown) => {
        this.#log.debug('streaming from Docker ended', { error })
        socket.destroy()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    // The agent does not stay for it.
    server.unref()
    return { server, port: (server.address() as AddressInfo).port }
  }

  async #serve(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const token = (request.url ?? '').slice(1)
    const waiting = this.#waiting.get(token)
    this.#waiting.delete(token)
    if (waiting === undefined || waiting.until < this.#clock.monotonic())
      return answerUpgrade(socket, { status: 404, body: 'unknown or used address' })
    const { served } = waiting
    const offered = listWebSocketProtocols(request.headers)
    if (offered !== undefined) return await this.#serveWebSocket({ request, socket, head, offered }, served)
    if (served.kind === 'ports') return await this.#servePorts({ request, socket, head }, served)
    const version = chooseVersion(listProtocols(request))
    if (version === undefined) return answerUpgrade(socket, { status: 403, body: 'unsupported protocol' })
    switchTo(socket, version.name)
    await serveSpdyCommand({ socket, head, version: version.number }, served)
  }

  async #servePorts(
    { request, socket, head }: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
    served: Extract<Served, { kind: 'ports' }>,
  ): Promise<void> {
    const protocols = listProtocols(request)
    if (protocols.length > 0 && !protocols.includes(PORT_FORWARD_PROTOCOL))
      return answerUpgrade(socket, { status: 403, body: `expected the protocol ${PORT_FORWARD_PROTOCOL}` })
    try {
      using pod = await served.open()
      switchTo(socket, PORT_FORWARD_PROTOCOL)
      await servePortForward({ socket, head }, pod.dial)
    } catch (error) {
      answerUpgrade(socket, { status: 500, body: errorMessage(error) })
    }
  }

  async #serveWebSocket(
    {
      request,
      socket,
      head,
      offered,
    }: {
      readonly request: IncomingMessage
      readonly socket: Duplex
      readonly head: Buffer
      readonly offered: readonly string[]
    },
    served: Served,
  ): Promise<void> {
    const fault = findHandshakeFault(request.headers)
    if (fault !== undefined) return answerUpgrade(socket, { status: 400, body: fault })
    const version = served.kind === 'ports' ? choosePortsVersion(offered) : chooseVersion(offered)
    if (version === undefined) {
      const expected = served.kind === 'ports' ? PORTS_PROTOCOL : 'channel.k8s.io in one of its versions'
      return answerUpgrade(socket, { status: 403, body: `unsupported protocol: expected ${expected}` })
    }
    const accept = () => {
      socket.write(formatHandshake(request.headers, offered.length === 0 ? undefined : version.name))
      return new WebSocketConnection(socket, head)
    }
    if (served.kind === 'command') return await serveWebSocketCommand(accept(), served)
    try {
      using pod = await served.open()
      await serveWebSocketPorts(accept(), served.ports, pod.dial)
    } catch (error) {
      answerUpgrade(socket, { status: 500, body: errorMessage(error) })
    }
  }

  [Symbol.dispose](): void {
    this.#waiting.clear()
    void this.#server?.then(({ server }) => server.close())
  }
}

function listProtocols({ headers }: IncomingMessage): readonly string[] {
  const text = String(headers[PROTOCOL.toLowerCase()] ?? '')
  return text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}

/** The newest version that the client offers; one that offers none speaks the first. */
function chooseVersion(offered: readonly string[]): { readonly name: string; readonly number: number } | undefined {
  if (offered.length === 0) return { name: 'channel.k8s.io', number: 1 }
  const known = offered.flatMap((name) => {
    const match = COMMAND_PROTOCOL.exec(name)
    return match === null ? [] : [{ name, number: Number(match[1] ?? 1) }]
  })
  return known.toSorted((a, b) => b.number - a.number)[0]
}

/** The oldest protocol of port-forward, which has one version. */
function choosePortsVersion(offered: readonly string[]): { readonly name: string } | undefined {
  return offered.length === 0 || offered.includes(PORTS_PROTOCOL) ? { name: PORTS_PROTOCOL } : undefined
}

function switchTo(socket: Duplex, protocol: string): void {
  const headers = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', [PROTOCOL]: protocol }
  socket.write(formatHead(101, Object.entries(headers).flat()))
}

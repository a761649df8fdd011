import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Clock } from '../../../base/async/clock.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { UpgradeTransport } from '../../../protocols/kube-api/transport/transport.ts'
import type { ForwardView } from '../../messages/page-message.ts'
import { forwardConnection } from './forward-connection.ts'

/** What is asked for: a port of a pod. */
export type WantedForward = Pick<ForwardView, 'namespace' | 'pod' | 'port'>

interface ForwardUser {
  readonly transport: UpgradeTransport
  /** Where the port of a pod is served, of the path that the API has for it. */
  readonly toTarget: (path: string) => string
  /** Aborts when its session has ended. */
  readonly ended: AbortSignal
}

interface Forward {
  readonly wanted: WantedForward
  readonly user: ForwardUser
  readonly server: Server
  readonly sockets: Set<Socket>
  readonly stop: AbortController
  usedAt: number
  problem: string | undefined
}

/** Another host than the page's, so that what a pod serves has none of its cookies, and cannot set any. */
const FORWARD_HOST = '127.0.0.2'
const MOST_FORWARDS = 20
const MOST_CONNECTIONS = 64
/** A port without connections is closed after this. */
const UNUSED_MS = 15 * 60_000

/** Ports of pods on ports of this machine, for the sessions that asked for them. */
export class PortForwards {
  readonly #deps: { readonly clock: Clock; readonly log: Logger }
  readonly #stop: AbortSignal
  readonly #forwards = new Map<number, Forward>()

  constructor(deps: { readonly clock: Clock; readonly log: Logger }, stop: AbortSignal) {
    this.#deps = deps
    this.#stop = stop
  }

  /** Those of a session. */
  list(ended: AbortSignal): readonly ForwardView[] {
    return [...this.#forwards]
      .filter(([, { user }]) => user.ended === ended)
      .map(([local, { wanted, problem }]) => ({ ...wanted, address: `${FORWARD_HOST}:${local}`, problem }))
  }

  /** Listens for connections to a port of a pod; a second one to the same port is the first. Undefined: there are too many. */
  async open(wanted: WantedForward, user: ForwardUser): Promise<ForwardView | undefined> {
    if (this.#find(wanted, user.ended) === undefined) {
      if (this.#forwards.size >= MOST_FORWARDS) return undefined
      await this.#listen(wanted, user)
    }
    return this.list(user.ended).find((each) => isSame(each, wanted))
  }

  close(wanted: WantedForward, ended: AbortSignal): void {
    const local = this.#find(wanted, ended)
    if (local !== undefined) this.#end(local)
  }

  #find(wanted: WantedForward, ended: AbortSignal): number | undefined {
    return [...this.#forwards].find(([, each]) => each.user.ended === ended && isSame(each.wanted, wanted))?.[0]
  }

  async #listen(wanted: WantedForward, user: ForwardUser): Promise<void> {
    // Either side may end first.
    const server = createServer({ allowHalfOpen: true })
    server.maxConnections = MOST_CONNECTIONS
    server.listen(0, FORWARD_HOST)
    await once(server, 'listening', { signal: this.#stop })
    const { port: local } = server.address() as AddressInfo
    const usedAt = this.#deps.clock.monotonic()
    const stop = new AbortController()
    const forward = { wanted, user, server, sockets: new Set<Socket>(), stop, usedAt, problem: undefined }
    this.#forwards.set(local, forward)
    server.on('connection', (socket) => void this.#carry(forward, socket))
    const end = () => this.#end(local)
    AbortSignal.any([user.ended, this.#stop]).addEventListener('abort', end, { once: true, signal: stop.signal })
    if (user.ended.aborted || this.#stop.aborted) end()
    void this.#endUnused(local, forward)
  }

  #end(local: number): void {
    const forward = this.#forwards.get(local)
    if (forward === undefined) return
    this.#forwards.delete(local)
    forward.server.close()
    forward.stop.abort(new Error('The port is not forwarded any more'))
    for (const socket of forward.sockets) socket.destroy()
  }

  async #endUnused(local: number, forward: Forward): Promise<void> {
    const { clock } = this.#deps
    try {
      for (;;) {
        const leftMs = forward.usedAt + UNUSED_MS - clock.monotonic()
        if (leftMs <= 0 && forward.sockets.size === 0) return this.#end(local)
        await clock.sleep(Math.max(leftMs, UNUSED_MS / 10), forward.stop.signal)
      }
    } catch {
      // It was ended before.
    }
  }

  /** Never rejects. */
  async #carry(forward: Forward, socket: Socket): Promise<void> {
    const { wanted, user, sockets, stop } = forward
    sockets.add(socket)
    socket.on('error', () => {})
    try {
      const target = user.toTarget(`/api/v1/namespaces/${wanted.namespace}/pods/${wanted.pod}/portforward`)
      await forwardConnection(user.transport, { target, port: wanted.port }, socket, stop.signal)
      forward.problem = undefined
    } catch (error) {
      forward.problem = errorMessage(error)
      if (!stop.signal.aborted) this.#deps.log.warn('a forwarded connection failed', { error })
    } finally {
      socket.destroy()
      sockets.delete(socket)
      forward.usedAt = this.#deps.clock.monotonic()
    }
  }
}

function isSame(a: WantedForward, b: WantedForward): boolean {
  return a.namespace === b.namespace && a.pod === b.pod && a.port === b.port
}

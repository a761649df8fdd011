import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/async/clock.ts'
import type { UpgradeConnection, UpgradeTransport } from '../../protocols/kube-api/transport/transport.ts'
import { proxyUpgrade } from '../../protocols/streams/upgrade/proxy-upgrade.ts'

export interface PageUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What came after its headers. */
  readonly head: Buffer
}

interface Terminal extends PageUpgrade {
  /** Where the command is served. */
  readonly target: string
}

// The older one is what runtimes speak that a kubelet passes us on to; it differs in nothing that a terminal needs.
const PROTOCOLS = 'v5.channel.k8s.io, v4.channel.k8s.io'
const KEY_PREFIX = 'deckhand-key.'
// As the API does.
const IDLE_MS = 4 * 3_600_000

/** The second half of the session: a browser can send no header of ours with a WebSocket, but names of protocols. */
export function findProtocolKey({ headers }: IncomingMessage): string | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
  return offered.find((each) => each.startsWith(KEY_PREFIX))?.slice(KEY_PREFIX.length)
}

/** Connects a terminal of the page with the API, as its user, until either leaves or the signal aborts. */
export async function serveTerminal(
  transport: UpgradeTransport,
  { request, socket, head, target }: Terminal,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const opened: UpgradeConnection = await transport.openUpgradeConnection(signal)
  // Nothing of the session reaches the API, so that no user is impersonated by accident.
  const own = ['cookie', 'origin', 'authorization', 'sec-websocket-extensions', 'x-deckhand-key']
  const impersonating = Object.keys(request.headers).filter((name) => name.startsWith('impersonate-'))
  const dropped = Object.fromEntries([...own, ...impersonating].map((name) => [name, undefined]))
  const upgrade = {
    connect: () => Promise.resolve(opened.socket),
    method: 'GET',
    path: `${opened.base}${target}`,
    headers: { ...dropped, host: transport.host, 'sec-websocket-protocol': PROTOCOLS, ...opened.headers },
  }
  try {
    await proxyUpgrade({ request, socket, head, target: upgrade, idleMs: IDLE_MS, clock, signal })
  } finally {
    opened.socket.destroy()
  }
}

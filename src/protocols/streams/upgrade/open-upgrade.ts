import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { request as sendRequest } from '../../../base/builtin/http.ts'

/** Where an upgrade request goes and what it says. */
export interface UpgradeTarget {
  /** A new connection, TLS done where there is one. */
  readonly connect: (signal: AbortSignal) => Promise<Duplex>
  readonly method: string
  /** With the query, if any. */
  readonly path: string
  /** All headers, in the form of rawHeaders: name, value, name, value … toForwardedHeaders() makes them of a request. */
  readonly headers: readonly string[]
}

/** What the target said: it speaks the other protocol now, or answered like any web server. */
export type UpgradeReply =
  | { readonly kind: 'switched'; readonly reply: IncomingMessage; readonly connection: Duplex }
  | { readonly kind: 'answered'; readonly reply: IncomingMessage; readonly connection: Duplex }

/** Asks the target to switch protocols. The caller owns the connection of the reply. */
export async function openUpgrade(target: UpgradeTarget, signal: AbortSignal): Promise<UpgradeReply> {
  signal.throwIfAborted()
  const connection = await target.connect(signal)
  connection.on('error', () => {})
  return await new Promise<UpgradeReply>((resolve, reject) => {
    const abort = () => request.destroy(signal.reason as Error)
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', abort)
      act()
    }
    const bodiless = ['POST', 'PUT', 'PATCH'].includes(target.method) ? ['Content-Length', '0'] : []
    const request = sendRequest({
      createConnection: () => connection,
      method: target.method,
      path: target.path,
      headers: [...target.headers, ...bodiless],
    })
    request.on('upgrade', (reply, _socket, head) => {
      if (head.length > 0) connection.unshift(head)
      settle(() => resolve({ kind: 'switched', reply, connection }))
    })
    request.on('response', (reply) => settle(() => resolve({ kind: 'answered', reply, connection })))
    request.on('error', (error) => {
      connection.destroy()
      settle(() => reject(signal.aborted ? signal.reason : error))
    })
    signal.addEventListener('abort', abort, { once: true })
    request.end()
    if (signal.aborted) abort()
  })
}

import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { PatientSocket } from '../../protocols/streams/upgrade/patient-socket.ts'

/** A place from which the runtime streams, as it named it for one use. */
export interface StreamServer {
  readonly connect: (signal: AbortSignal) => Promise<Duplex>
  readonly host: string
  readonly path: string
}

/** Opens a connection to a server; TLS where it is secure. */
export type Dial = (
  place: { readonly host: string; readonly port: number; readonly secure: boolean },
  signal: AbortSignal,
) => Promise<Duplex>

/** From the URL in a reply of the runtime. */
export function toStreamServer(text: string, dial: Dial): StreamServer {
  const url = new URL(/^[a-z]+:\/\//i.test(text) ? text : `http://${text.replace(/^\/\//, '')}`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`Cannot stream from "${url.protocol}//${url.host}": expected http or https`)
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return {
    connect: (signal) => dial({ host, port, secure }, signal),
    host: url.host,
    path: `${url.pathname}${url.search}`,
  }
}

/** Over the network of the node. */
export const dialStreamServer: Dial = async ({ host, port, secure }, signal) => {
  signal.throwIfAborted()
  // A runtime that uses TLS makes a certificate for itself; that this is its place we have from itself.
  const socket = secure
    ? connectTls({ host, port, rejectUnauthorized: false })
    : new PatientSocket().connect({ host, port }).setNoDelay()
  await new Promise<void>((resolve, reject) => {
    const abort = () => socket.destroy(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', abort)
      act()
    }
    socket.once(secure ? 'secureConnect' : 'connect', () => settle(resolve))
    socket.once('error', (error) => settle(() => reject(error)))
  })
  return socket
}

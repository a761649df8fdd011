import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { PresentedCertificate } from './authenticate-peer-certificate.ts'

// Longer chains are no chains; one that is signed by itself has no end.
const MAX_CHAIN = 10

/** What the client of a connection showed in its handshake; nothing on one without encryption. */
export function readPeerCertificate({ socket }: IncomingMessage): PresentedCertificate {
  if (!(socket instanceof TLSSocket)) return { chain: [], handshakeFault: undefined }
  const chain: X509Certificate[] = []
  let next = socket.getPeerX509Certificate()
  while (next !== undefined && chain.length < MAX_CHAIN) {
    chain.push(next)
    next = next.issuerCertificate
  }
  // Typed as an error, but it is the name of OpenSSL's verdict.
  return { chain, handshakeFault: socket.authorized ? undefined : String(socket.authorizationError) }
}

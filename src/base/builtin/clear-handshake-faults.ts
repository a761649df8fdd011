import type { X509Certificate } from 'node:crypto'

/** A server of node:tls, node:https or node:http2. */
interface SecureServer {
  prependListener(event: 'secureConnection', listener: (socket: SecureSocket) => void): unknown
}

interface SecureSocket {
  readonly authorized: boolean
  getPeerX509Certificate(): X509Certificate | undefined
}

/**
 * Makes a server that lets bad client certificates pass, to say no by an answer, able to give that answer. When the signature of the
 * certificate is wrong, which shows for one of another authority of the same name, OpenSSL notes an error although the handshake goes on; the
 * first read of the connection takes that for its own and Node cuts the connection. Reading any certificate removes such notes.
 */
export function clearHandshakeFaults(server: SecureServer): void {
  server.prependListener('secureConnection', (socket) => {
    if (socket.authorized) return
    const certificate = socket.getPeerX509Certificate()
    certificate?.checkIssued(certificate)
  })
}

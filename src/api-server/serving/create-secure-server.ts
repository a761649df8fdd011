import { constants, createSecureServer as createServer } from 'node:http2'
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { IncomingMessage } from 'node:http'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { clearHandshakeFaults } from '../../base/builtin/clear-handshake-faults.ts'
import { toServerTimeouts } from '../../protocols/streams/connection-limits.ts'
import type { ConnectionDeadlines } from '../../protocols/streams/connection-limits.ts'
import { canUpgrade } from './serve-upgrade.ts'

export interface SecureServerDeps {
  readonly secrets: { readonly cert: string; readonly key: string; readonly ca: string }
  readonly deadlines?: ConnectionDeadlines | undefined
  readonly clock: Clock
}

const MAX_HEADER_BYTES = 32 * 1024
// A body must come within the time of a request; watches are answers and may take longer.
const DEADLINES = { handshakeMs: 10_000, headersMs: 15_000, requestMs: 60_000, idleMs: 90_000 }
// Parity: so many of an API server for one connection; a node's watches fit into a few.
const MAX_STREAMS = 250
const MAX_HEADERS = 200
// Also holds what waits to be sent, such as a list of many megabytes.
const MAX_SESSION_MEGABYTES = 32
// A sane client sends none, and has few streams rejected: it knows their limit.
const MAX_INVALID_FRAMES = 50
const MAX_REJECTED_STREAMS = 100
// A client that watches hundreds of objects may end all watches at once, but not again and again.
const RESETS = { streamResetBurst: 1000, streamResetRate: 33 }

/** A TLS server that speaks HTTP/2 with clients that can, and HTTP/1.1 with others and for upgrades. */
export function createSecureServer({ secrets, deadlines = DEADLINES, clock }: SecureServerDeps): Http2SecureServer {
  const { idleMs } = deadlines
  // The types do not know all of them yet.
  const http1 = { maxHeaderSize: MAX_HEADER_BYTES, http1Options: { keepAliveTimeout: idleMs } }
  const server = createServer({
    ...secrets,
    minVersion: 'TLSv1.2',
    requestCert: true,
    // A client without a certificate, or with a bad one, may still have a token.
    rejectUnauthorized: false,
    ...toServerTimeouts(deadlines),
    allowHTTP1: true,
    ...http1,
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES, enablePush: false },
    maxHeaderListPairs: MAX_HEADERS,
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
    ...RESETS,
  })
  clearHandshakeFaults(server)
  // As of a server of HTTP/1.1 alone, where it is an option.
  Object.assign(server, { shouldUpgradeCallback: ({ url = '/' }: IncomingMessage) => canUpgrade(url) })
  server.on('session', (session) => limitSession(session, deadlines, clock))
  return server
}

/** What a server of HTTP/1.1 does by itself: ends unused connections and bodies that do not come. */
function limitSession(session: ServerHttp2Session, { idleMs, requestMs }: ConnectionDeadlines, clock: Clock): void {
  let streams = 0
  // Everything on it hears of it too.
  session.on('error', () => {})
  session.setTimeout(idleMs, () => {
    if (streams === 0) session.close()
  })
  session.on('stream', (stream) => {
    streams += 1
    stream.once('close', () => (streams -= 1))
    if (!stream.endAfterHeaders) limitBody(stream, requestMs, clock)
  })
}

function limitBody(stream: ServerHttp2Stream, requestMs: number, clock: Clock): void {
  const scope = new AbortScope(new AbortController().signal)
  const release = () => scope[Symbol.dispose]()
  stream.once('end', release)
  stream.once('close', release)
  const cut = () => stream.close(constants.NGHTTP2_CANCEL)
  // Rejects when the body came in time.
  clock.sleep(requestMs, scope.signal).then(cut, () => {})
}

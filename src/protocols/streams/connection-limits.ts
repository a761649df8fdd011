/** How many connections there may be. */
export interface ConnectionLimits {
  readonly all: number
  /**
   * Those that the server does not keep: in their handshake, of clients that have not shown who they are, or without a request, as the server decides.
   * A newcomer drives out the oldest of them, so that no client can keep others out by only sitting there.
   */
  readonly replaceable: number
  /** From one address. A newcomer beyond drives out the oldest replaceable one from there, or is closed. */
  readonly perAddress?: number
}

/** How long a connection may take for each part of its life; what is late is closed. */
export interface ConnectionDeadlines {
  /** From the connection to the end of the TLS handshake. */
  readonly handshakeMs: number
  /** From there, or from the first byte of a later request, to the end of its headers. */
  readonly headersMs: number
  /** To the end of its body. */
  readonly requestMs: number
  /** Between requests. */
  readonly idleMs: number
}

// A connection is closed at most this part of a deadline after it.
const CHECKS_PER_DEADLINE = 6

/** As Node's servers take them, besides the time between requests. */
export function toServerTimeouts({ handshakeMs, headersMs, requestMs }: ConnectionDeadlines) {
  return {
    handshakeTimeout: handshakeMs,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(headersMs / CHECKS_PER_DEADLINE),
  }
}

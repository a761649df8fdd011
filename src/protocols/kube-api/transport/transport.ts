import type { Socket } from 'node:net'
import { KubeUnreachableError } from '../kube-client.ts'

/** A request as it goes over the wire. */
export interface TransportRequest {
  readonly method: string
  /** With its query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
  /** Its answer does not end by itself for a long time, and may be ended and asked for again. */
  readonly isWatch: boolean
}

export interface TransportResponse {
  readonly status: number
  readonly retryAfter: string | undefined
  /** Has to be read, if only a part of it. Fails with a BrokenConnectionError when it breaks off. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Connections to an API server, made as they are needed, with credentials of their own making. */
export interface Transport {
  /** The server's name and port. */
  readonly host: string
  /** Resolves when an answer begins. Fails with a BrokenConnectionError; the signal holds for the body too. */
  request(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>
  /** Ends all connections and everything that runs on them; the next request makes new ones. */
  closeAll(why: string): void
}

/** A connection for one request that asks for another protocol. */
export interface UpgradeConnection {
  /** Speaks HTTP/1.1; the caller owns it. */
  readonly socket: Socket
  /** Who the client is, besides what the connection itself has shown. */
  readonly headers: Readonly<Record<string, string>>
  /** What every path begins with. */
  readonly base: string
}

/** A transport that also gives away connections. */
export interface UpgradeTransport extends Transport {
  /** Fails with a BrokenConnectionError. */
  openUpgradeConnection(signal: AbortSignal): Promise<UpgradeConnection>
}

/** No connection could be made, or one broke. */
export class BrokenConnectionError extends KubeUnreachableError {
  /** How far the request came: "sent" means that the server may have done it. */
  readonly stage: 'connecting' | 'refused' | 'sent'

  constructor(message: string, stage: BrokenConnectionError['stage'], options?: ErrorOptions) {
    super(message, options)
    this.stage = stage
  }
}

/** The connection is not to be used any more; what asks again gets another. */
export class RetiredConnectionError extends BrokenConnectionError {
  constructor(message: string) {
    super(message, 'refused')
  }
}

import { AbortScope } from '../../../base/async/abort-scope.ts'
import { runExchange } from '../exchange.ts'
import type { ExchangeEnd } from '../exchange.ts'
import type { Relay } from '../relay.ts'
import { runPulse } from '../run-pulse.ts'
import { SpdyCarrier } from './spdy-carrier.ts'
import type { SpdyCommand } from './spdy-carrier.ts'

/** Two connections that speak SPDY/3.1 with each other through us. */
export interface SpdyRelay extends Relay {
  /** What is run over it; undefined for anything but a command. */
  readonly command: SpdyCommand | undefined
}

/**
 * As relay(), frame by frame, which is what it takes to lose nothing: the connection to a server that has said all and closed is reset by the next
 * byte that comes, and then whatever it had not yet sent is gone. So pings of the client, which come at any time, are answered here.
 */
export async function relaySpdy(options: SpdyRelay, signal: AbortSignal): Promise<ExchangeEnd> {
  const carrier = new SpdyCarrier(options)
  using scope = new AbortScope(signal)
  runPulse(options.clock, () => carrier.pulse(), scope.signal).catch(() => {})
  return await runExchange(options, carrier, signal)
}

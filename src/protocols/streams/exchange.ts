import type { Duplex } from 'node:stream'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { IdleWatch } from './idle-watch.ts'

/** Two connections between which something is carried. */
export interface Exchange {
  readonly client: Duplex
  readonly target: Duplex
  /** When nothing happens in either direction for this long, both are closed. */
  readonly idleMs: number
  readonly clock: Clock
}

/** What is done in each direction; each reports its activity to the watch. One that fails says that its connection broke off. */
export interface Directions {
  readonly fromClient: (idle: IdleWatch) => Promise<void>
  readonly fromTarget: (idle: IdleWatch) => Promise<void>
}

/** How it ended: both directions are done, a connection broke off, nothing happened for too long, or the signal aborted. */
export type ExchangeEnd = 'finished' | 'broken' | 'idle' | 'stopped'

// When one direction is done, the other may still have something to say. What then stays silent is a connection whose other end has gone.
const HALF_DONE_IDLE_MS = 30_000

/** Runs both directions until both are done. Both connections are closed when this returns. */
export async function runExchange(
  { client, target, idleMs, clock }: Exchange,
  { fromClient, fromTarget }: Directions,
  signal: AbortSignal,
): Promise<ExchangeEnd> {
  const idle = new IdleWatch(clock, idleMs)
  let end: ExchangeEnd = 'finished'
  const close = (why: ExchangeEnd) => {
    if (end === 'finished') end = why
    client.destroy()
    target.destroy()
  }
  // A connection may break at any time, also while nothing is read or written; what reads or writes next will notice.
  for (const connection of [client, target]) {
    connection.on('error', () => {})
    connection.allowHalfOpen = true
  }
  // No client is left to read from the target, and writing to it may block for ever.
  client.once('error', () => target.destroy())
  using scope = new AbortScope(signal)
  idle.run(scope.signal).then(
    () => close('idle'),
    () => {
      if (signal.aborted) close('stopped')
    },
  )
  const run = async (direction: (idle: IdleWatch) => Promise<void>) => {
    try {
      await direction(idle)
    } catch {
      if (end === 'finished') end = 'broken'
      target.destroy()
    }
    idle.limit(HALF_DONE_IDLE_MS)
  }
  await Promise.all([run(fromClient), run(fromTarget)])
  client.destroy()
  target.destroy()
  return end
}

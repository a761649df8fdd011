import type { Duplex } from 'node:stream'
import { AbortScope } from '../async/abort-scope.ts'
import type { Clock } from '../async/clock.ts'
import { IdleWatch } from './idle-watch.ts'
import { endWriting, writeBytes } from './write-bytes.ts'

/** Two connections whose bytes are exchanged. */
export interface Relay {
  readonly client: Duplex
  /** What was read of the client before. Not put back: its connection may have ended since. */
  readonly head: Uint8Array
  readonly target: Duplex
  /** Without a byte in either direction for this long, both are closed. */
  readonly idleMs: number
  readonly clock: Clock
}

/** How it ended: both sides said all they had, one broke off, nothing happened for too long, or we were told to stop. */
export type RelayEnd = 'finished' | 'broken' | 'idle' | 'stopped'

// A side that has closed its half waits for the other to finish. What then stays silent is a connection that nobody holds any more.
const HALF_CLOSED_IDLE_MS = 60_000

/**
 * Copies bytes both ways, never faster than the slower side takes them. The end of one direction is passed on and the other goes on.
 * Both connections are closed when this returns.
 */
export async function relay({ client, head, target, idleMs, clock }: Relay, signal: AbortSignal): Promise<RelayEnd> {
  const idle = new IdleWatch(clock, idleMs)
  let end: RelayEnd = 'finished'
  const close = (why: RelayEnd) => {
    if (end === 'finished') end = why
    client.destroy()
    target.destroy()
  }
  using scope = new AbortScope(signal)
  idle.run(scope.signal).then(
    () => close('idle'),
    () => {
      if (signal.aborted) close('stopped')
    },
  )
  const copy = async (from: Duplex, to: Duplex, first: Uint8Array = new Uint8Array()) => {
    try {
      if (first.length > 0) await writeBytes(to, first)
      await copyBytes(from, to, idle)
    } catch {
      close('broken')
    }
  }
  await Promise.all([copy(client, target, head), copy(target, client)])
  client.destroy()
  target.destroy()
  return end
}

async function copyBytes(from: Duplex, to: Duplex, idle: IdleWatch): Promise<void> {
  from.allowHalfOpen = true
  // A connection may break at any time, also when nobody reads or writes; what reads or writes next will notice.
  from.on('error', () => {})
  for await (const chunk of from.iterator({ destroyOnReturn: false })) {
    idle.touch()
    await writeBytes(to, chunk as Uint8Array)
    idle.touch()
  }
  idle.limit(HALF_CLOSED_IDLE_MS)
  await endWriting(to)
}

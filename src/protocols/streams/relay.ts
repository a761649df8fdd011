import type { Duplex } from 'node:stream'
import { runExchange } from './exchange.ts'
import type { Exchange, ExchangeEnd } from './exchange.ts'
import type { IdleWatch } from './idle-watch.ts'
import { readChunks } from './read-chunks.ts'
import { endWriting, writeBytes } from './write-bytes.ts'

/** Two connections whose bytes are exchanged. */
export interface Relay extends Exchange {
  /** What was read of the client before. Not put back: its connection may have ended since. */
  readonly head: Uint8Array
}

/**
 * Copies bytes both ways, never faster than the slower side takes them. The end of one direction is passed on and the other goes on.
 * Both connections are closed when this returns.
 */
export async function relay(options: Relay, signal: AbortSignal): Promise<ExchangeEnd> {
  const { client, target, head } = options
  const fromClient = async (idle: IdleWatch) => {
    if (head.length > 0) await writeBytes(target, head)
    await copyBytes(client, target, idle)
  }
  const fromTarget = async (idle: IdleWatch) => {
    try {
      await copyBytes(target, client, idle)
    } catch (error) {
      // What the target said before it broke off is the client's.
      target.destroy()
      await endWriting(client)
      throw error
    }
  }
  return await runExchange(options, { fromClient, fromTarget }, signal)
}

/** What can no longer be delivered is read all the same: closing over unread bytes would take from the sender what is on its way to it. */
async function copyBytes(from: Duplex, to: Duplex, idle: IdleWatch): Promise<void> {
  for await (const chunk of readChunks(from)) {
    if (to.destroyed) continue
    idle.touch()
    await writeBytes(to, chunk).catch(() => {})
    idle.touch()
  }
  await endWriting(to)
}

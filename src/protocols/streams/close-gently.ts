import type { Duplex } from 'node:stream'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'

const PATIENCE_MS = 10_000

/**
 * Closes a connection on which all is said, but waits a little for the other side to close first: closing over bytes that nobody has read would
 * take from it what it has not read yet.
 */
export async function closeGently(socket: Duplex, clock: Clock, signal: AbortSignal): Promise<void> {
  using scope = new AbortScope(signal)
  const closed = new Promise<void>((resolve) => {
    socket.once('end', resolve)
    socket.once('close', resolve)
  })
  socket.end()
  socket.resume()
  await Promise.race([closed, clock.sleep(PATIENCE_MS, scope.signal).catch(() => {})])
  socket.destroy()
}

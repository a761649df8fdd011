import type { Writable } from 'node:stream'

/**
 * Writes all parts, with nothing between them, and returns when there is room for more: who waits for this never holds more than one buffer
 * in memory.
 */
export async function writeBytes(stream: Writable, ...parts: readonly Uint8Array[]): Promise<void> {
  if (stream.destroyed || stream.writableEnded) throw closedError(stream)
  if (parts.length > 1) stream.cork()
  let room = true
  for (const part of parts) room = stream.write(part)
  if (parts.length > 1) stream.uncork()
  if (!room) await settle(stream, 'drain')
}

/** Ends the writing side, and returns when all that was written has left. */
export async function endWriting(stream: Writable): Promise<void> {
  if (stream.writableFinished || stream.destroyed) return
  const finished = settle(stream, 'finish')
  stream.end()
  await finished
}

/** One pair of listeners for each wait, taken away with it: a stream lives for many writes. */
async function settle(stream: Writable, event: 'drain' | 'finish'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      stream.off(event, succeed)
      stream.off('close', fail)
    }
    const succeed = () => {
      stop()
      resolve()
    }
    const fail = () => {
      stop()
      reject(closedError(stream))
    }
    stream.on(event, succeed)
    stream.on('close', fail)
  })
}

function closedError(stream: Writable): Error {
  return new Error('Cannot write to the connection: it is closed', { cause: stream.errored ?? undefined })
}

import type { Readable } from 'node:stream'

/**
 * What comes over a connection, as fast as it is asked for. Unlike the stream's own iterator it neither closes the connection when no caller asks any
 * more, nor throws away what had come before the connection broke: the last bytes are often the important ones.
 */
export async function* readChunks(stream: Readable): AsyncGenerator<Buffer, void> {
  let wake = () => {}
  const ring = () => wake()
  const events = ['readable', 'end', 'close'] as const
  for (const event of events) stream.on(event, ring)
  try {
    for (;;) {
      const chunk = stream.read() as Buffer | null
      if (chunk !== null) yield chunk
      else if (stream.readableEnded) return
      else if (stream.destroyed) throw brokenError(stream)
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    for (const event of events) stream.off(event, ring)
  }
}

function brokenError(stream: Readable): Error {
  const { errored } = stream
  return new Error(`the connection broke off${errored === null ? '' : `: ${errored.message}`}`, {
    cause: errored ?? undefined,
  })
}

import type { Duplex } from 'node:stream'

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})/

/** Reads along what is first written to a connection; gives the status that the client got, if it is one of HTTP. */
export function watchStatus(socket: Duplex): () => number | undefined {
  let status: number | undefined
  const write = socket.write.bind(socket)
  socket.write = ((chunk: Uint8Array | string, ...rest: [never]) => {
    socket.write = write
    const start = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1', 0, 16)
    const [, code] = STATUS_LINE.exec(start) ?? []
    if (code !== undefined) status = Number(code)
    return write(chunk, ...rest)
  }) as typeof socket.write
  return () => status
}

import type { IncomingMessage } from 'node:http'

// As much as the API takes.
const MOST_BYTES = 3 * 1024 * 1024

/** The body of a request; undefined when it is larger than any object. */
export async function readRequestBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

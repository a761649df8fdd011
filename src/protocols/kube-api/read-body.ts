import { GarbledAnswerError } from './garbled-answer-error.ts'

// The services of a large cluster, or the pods of a node with all that was ever said about them, are far smaller.
const MAX_BODY_BYTES = 128 * 1024 * 1024
// An object has at most a few megabytes.
const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEWLINE = 0x0a

/** The whole text of an answer. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_BODY_BYTES)
      throw new GarbledAnswerError(`Cannot read an answer: it has more than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The lines of an answer that never ends, each as soon as it is complete. An answer that ends within a line is broken. */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let begun: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...begun, chunk.subarray(start, end)]).toString('utf8')
      begun = []
      size = 0
      start = end + 1
      if (line.trim() !== '') yield line
    }
    if (start === chunk.length) continue
    begun.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > MAX_LINE_BYTES)
      throw new GarbledAnswerError(`Cannot read a watch: a line has more than ${MAX_LINE_BYTES} bytes`)
  }
  if (size > 0) throw new GarbledAnswerError(`Cannot read a watch: it ended within a line, after ${size} bytes of it`)
}

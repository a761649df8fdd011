import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

// What is read at a time.
const CHUNK_BYTES = 256 * 1024

/** What a file has after a position, a chunk of it at most, and where that ends; of one that has become shorter, from its beginning. */
export async function readFrom(
  path: string,
  position: number,
): Promise<{ readonly text: string; readonly end: number }> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const { size } = await file.stat()
    if (position === Infinity) return { text: '', end: size }
    const start = position > size ? 0 : position
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(CHUNK_BYTES, size - start)), {
      position: start,
    })
    return { text: buffer.subarray(0, bytesRead).toString('utf8'), end: start + bytesRead }
  } catch {
    return { text: '', end: 0 }
  }
}

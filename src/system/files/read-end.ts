import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** The last bytes of a regular file as text; undefined when there is none. Never waits for what is at the path. */
export async function readEnd(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const stats = await file.stat()
    if (!stats.isFile()) return undefined
    const start = Math.max(0, stats.size - maxBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stats.size, maxBytes)), { position: start })
    return buffer.subarray(0, bytesRead).toString('utf8')
  } catch {
    return undefined
  }
}

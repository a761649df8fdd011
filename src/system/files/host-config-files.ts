import type { Dirent, Stats } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'

function kindOf(entry: Dirent | Stats): 'file' | 'directory' | 'symlink' | 'other' {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}

const CHUNK_BYTES = 64 * 1024

/** The file system as the configuration reads it. */
export const hostConfigFiles = {
  async readFile(path: string, maxBytes: number): Promise<Uint8Array> {
    await using file = await open(path)
    const parts: Uint8Array[] = []
    let size = 0
    // Not by the size that stat() reports: a pipe has none, and a file may grow.
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES))
      if (bytesRead === 0) break
      parts.push(buffer.subarray(0, bytesRead))
      size += bytesRead
      if (size > maxBytes) throw new Error(`Cannot read "${path}": expected at most ${maxBytes} bytes`)
    }
    return Buffer.concat(parts)
  },

  async entryKind(path: string) {
    return kindOf(await lstat(path))
  },

  async listDirectory(path: string) {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
  },
}

import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Copies of the manifests that were good when last read, by file name. A manifest that is edited into something invalid keeps its
 * pod; with the copy it does so also over the end of the agent.
 */
export function createLastGoodManifests(folder: string) {
  // A file name may be as long as a file system takes; its hash always fits.
  const fileOf = (name: string) => createHash('sha256').update(name).digest('hex')
  return {
    async read(name: string): Promise<Uint8Array | undefined> {
      return await readFile(join(folder, fileOf(name))).catch(() => undefined)
    },

    async write(name: string, bytes: Uint8Array): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, fileOf(name))
      // Not synced: a copy that a power cut spoils does not decode and counts as none, and a hundred manifests must not wait for the disk.
      await writeFile(`${path}.new`, bytes, { mode: 0o600 })
      await rename(`${path}.new`, path)
    },

    /** Forgets all others. */
    async retain(names: readonly string[]): Promise<void> {
      const kept = new Set(names.map(fileOf))
      const files = await readdir(folder).catch(() => [])
      for (const file of files) if (!kept.has(file)) await rm(join(folder, file), { force: true })
    },
  }
}

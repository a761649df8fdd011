import { open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { readManifestFile } from './read-manifest-file.ts'
import { listFolder, makeFolder, writeFileAtomically } from './state-folder.ts'

// Only the agent reads what is in it.
const MODE = 0o600
const LARGEST_NOTE_BYTES = 1024 * 1024

/** Small files of our own in one folder; each is on the disk when its write resolves, whole or not at all. */
export function createJournalFolder(folder: string) {
  return {
    list: async (): Promise<readonly string[]> => await listFolder(folder),

    /** Only what is a regular file: anything else could keep the agent from starting. */
    async read(name: string): Promise<string> {
      const result = await readManifestFile(join(folder, name), LARGEST_NOTE_BYTES)
      if (result.kind === 'content') return Buffer.from(result.bytes).toString('utf8')
      throw new Error(`Cannot read "${join(folder, name)}": ${result.reason}`)
    },

    async write(name: string, text: string): Promise<void> {
      await makeFolder(folder)
      await writeFileAtomically(join(folder, name), text, MODE)
      await syncFolder(folder)
    },

    async remove(name: string): Promise<void> {
      try {
        await unlink(join(folder, name))
        await syncFolder(folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    },

    async setAside(name: string): Promise<void> {
      await rename(join(folder, name), join(folder, `${name}.broken`))
    },
  }
}

/** Without this a power cut may undo what happened to names in the folder. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}

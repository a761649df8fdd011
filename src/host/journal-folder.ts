import { open, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { listFolder, makeFolder, writeFileAtomically } from './state-folder.ts'

// Only the agent reads what is in it.
const MODE = 0o600

/** Small files of our own in one folder; each is on the disk when its write resolves, whole or not at all. */
export function createJournalFolder(folder: string) {
  return {
    list: async (): Promise<readonly string[]> => await listFolder(folder),

    read: async (name: string): Promise<string> => await readFile(join(folder, name), 'utf8'),

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

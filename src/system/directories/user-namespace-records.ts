import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessAbsent } from '../files/error-codes.ts'

const NAME = 'userns'
const TEMPORARY = `${NAME}.tmp`
const CORRUPT = `${NAME}.corrupt`

/** The Go kubelet's own place for the ids of a pod's user namespace, so that either agent finds the other's: pods/<uid>/userns. */
export function createUserNamespaceRecords(rootDirectory: string) {
  const folderOf = (uid: string) => join(rootDirectory, 'pods', uid)
  return {
    /** The records of all pods that have one. */
    async readAll(): Promise<readonly { readonly uid: string; readonly text: string }[]> {
      const uids = await unlessAbsent(readdir(join(rootDirectory, 'pods')), [])
      const texts = await Promise.all(
        uids.map(async (uid) => ({
          uid,
          text: await unlessAbsent(readFile(join(folderOf(uid), NAME), 'utf8'), undefined),
        })),
      )
      return texts.flatMap(({ uid, text }) => (text === undefined ? [] : [{ uid, text }]))
    },

    /** Lasts, also over a crash of the machine: a range that is in use must never be given away again. */
    async write(uid: string, text: string): Promise<void> {
      const folder = folderOf(uid)
      await mkdir(folder, { recursive: true, mode: 0o750 })
      {
        await using file = await open(join(folder, TEMPORARY), 'w', 0o600)
        await file.chmod(0o600)
        await file.writeFile(text)
        await file.sync()
      }
      await rename(join(folder, TEMPORARY), join(folder, NAME))
      await sync(folder)
      await sync(dirname(folder))
    },

    /** Keeps a record that makes no sense for whoever wants to know why. */
    async setAside(uid: string): Promise<void> {
      await rename(join(folderOf(uid), NAME), join(folderOf(uid), CORRUPT))
    },

    async remove(uid: string): Promise<void> {
      for (const name of [NAME, TEMPORARY, CORRUPT]) await unlessAbsent(unlink(join(folderOf(uid), name)), undefined)
    },
  }
}

async function sync(folder: string): Promise<void> {
  await using directory = await open(folder, 'r')
  await directory.sync()
}

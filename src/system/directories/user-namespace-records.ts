import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { removeFileDurably, renameDurably, syncFolder, writeFileDurably } from '../files/state/durable-file.ts'
import { unlessAbsent } from '../files/error-codes.ts'

const NAME = 'userns'
const CORRUPT = `${NAME}.corrupt`

/** The Go kubelet's own place for the ids of a pod's user namespace, so that either agent finds the other's: pods/<uid>/userns. */
export function createUserNamespaceRecords(
  rootDirectory: string,
  read: (path: string) => Promise<string> = (path) => readFile(path, 'utf8'),
) {
  const folderOf = (uid: string) => join(rootDirectory, 'pods', uid)
  return {
    /** The records of all pods that have one; fails when one can be read later, so that no range is given away twice. */
    async readAll(): Promise<readonly { readonly uid: string; readonly text: string }[]> {
      const uids = await unlessAbsent(readdir(join(rootDirectory, 'pods')), [])
      const texts = await Promise.all(
        uids.map(async (uid) => ({
          uid,
          text: await unlessAbsent(read(join(folderOf(uid), NAME)), undefined).catch((error: unknown) => {
            throwIfTransient(error)
            // One that cannot be read says as little as an empty one, and is set aside like it.
            return ''
          }),
        })),
      )
      return texts.flatMap(({ uid, text }) => (text === undefined ? [] : [{ uid, text }]))
    },

    /** Lasts, also over a crash of the machine: a range that is in use must never be given away again. */
    async write(uid: string, text: string): Promise<void> {
      await writeFileDurably(join(folderOf(uid), NAME), text, { mode: 0o600, folderMode: 0o750 })
      // The pod's directory may be older than the record, and not on the disk yet.
      await syncFolder(join(rootDirectory, 'pods'))
    },

    /** Keeps a record that makes no sense, for people to find out why. */
    async setAside(uid: string): Promise<void> {
      await renameDurably(join(folderOf(uid), NAME), join(folderOf(uid), CORRUPT))
    },

    async remove(uid: string): Promise<void> {
      for (const name of [NAME, CORRUPT]) await removeFileDurably(join(folderOf(uid), name))
    },
  }
}

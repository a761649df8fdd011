import type { PodUid } from '../../model/pod/pod.ts'
import type { Remains } from '../../system/directories/remove-own-directory.ts'
import type { PodRemains } from './pod-remains.ts'

interface RemovableFiles {
  removePod(uid: PodUid): Promise<Remains>
  removeLogDirectory(directory: string): Promise<Remains>
}

export interface NoteRemainsDeps {
  readonly remains: Pick<PodRemains, 'note'>
  /** The ids of a user namespace are free again when the files of its pod go. */
  readonly userNamespaces: { release(uid: PodUid): Promise<unknown> }
}

/** The files of pods; what stays of those that are removed is noted, and tried again. */
export function noteRemains<T extends RemovableFiles>(files: T, { remains, userNamespaces }: NoteRemainsDeps) {
  const removeLogDirectory = async (uid: PodUid, directory: string): Promise<void> => {
    const retry = () => files.removeLogDirectory(directory)
    remains.note(await retry(), { uid, retry })
  }
  return {
    ...files,
    async removePod(uid: PodUid, logDirectory: string | undefined): Promise<void> {
      await userNamespaces.release(uid)
      const retry = () => files.removePod(uid)
      remains.note(await retry(), { uid, retry })
      if (logDirectory !== undefined) await removeLogDirectory(uid, logDirectory)
    },
    removeLogDirectory,
  }
}

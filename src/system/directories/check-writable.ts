import { access, constants } from 'node:fs/promises'

/** Fails when nothing can be written in a folder, such as one on a file system that is read-only now. Writes nothing itself. */
export async function checkWritable(folder: string): Promise<void> {
  await access(folder, constants.W_OK)
}

import { rename } from 'node:fs/promises'

/** Gives files another ending, so that they are out of the way and can still be looked at. Those that are not there are passed over. */
export async function setAside(paths: readonly string[], suffix: string): Promise<void> {
  for (const path of paths) {
    try {
      await rename(path, `${path}${suffix}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

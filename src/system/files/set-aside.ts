import { renameDurably } from './durable-file.ts'
import { unlessAbsent } from './error-codes.ts'

/** Gives files another ending, so that they are out of the way and can still be looked at. Those that are not there are passed over. */
export async function setAside(paths: readonly string[], suffix: string): Promise<void> {
  for (const path of paths) {
    await unlessAbsent(renameDurably(path, `${path}${suffix}`), undefined)
  }
}

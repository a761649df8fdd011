import { setImmediate } from 'node:timers/promises'

/** Lets what is under way go on until something is so. A test that waits in vain ends by its time limit. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate()
}

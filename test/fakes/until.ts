import { setImmediate } from 'node:timers/promises'

/** Lets running work go on until a condition holds. A test that waits in vain ends by its time limit. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate()
}

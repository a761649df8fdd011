import { setImmediate } from 'node:timers/promises'

/** Lets everybody else have a turn: for long work that never waits by itself. */
export async function nextTurn(): Promise<void> {
  await setImmediate()
}

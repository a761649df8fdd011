import { setImmediate } from 'node:timers/promises'

/** Lets everybody else have a turn: for long work that never waits by itself. */
export async function nextTurn(): Promise<void> {
  await setImmediate()
}

/** The same between many small pieces of work, but only when those since the last turn took so long: a turn costs as much as a small piece. */
export function createTurns(ms: number): () => Promise<void> {
  let startedAt = performance.now()
  return async () => {
    if (performance.now() - startedAt < ms) return
    await nextTurn()
    startedAt = performance.now()
  }
}

import type { KeyedLock } from '../../base/async/keyed-lock.ts'

/** Holds several claims at once; always in the same order, so that two callers never wait for each other. */
export async function holdClaims<T>(
  lock: KeyedLock,
  keys: readonly string[],
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return await holdInOrder(lock, [...new Set(keys)].sort(), work, signal)
}

async function holdInOrder<T>(
  lock: KeyedLock,
  [first, ...rest]: readonly string[],
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (first === undefined) return await work()
  return await lock.hold(first, () => holdInOrder(lock, rest, work, signal), signal)
}

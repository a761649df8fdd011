import { setTimeout as sleep } from 'node:timers/promises'

/** Now, in ms since the epoch, finer than Date.now(). */
export function now(): number {
  return performance.timeOrigin + performance.now()
}

/** Asks again and again until there is an answer; fails when there is none in time. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  options: { readonly pollMs: number; readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<T> {
  const end = performance.now() + options.deadlineMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > end) throw new Error(`Cannot wait for ${what}: not after ${options.deadlineMs} ms`)
    await sleep(options.pollMs, undefined, { signal: options.signal })
  }
}

import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  /** Generous: only what never comes should run into it. */
  readonly ms?: number
  /** The longest time between two questions; short for what does not stay. */
  readonly pollMs?: number
  /** What a reader of the failure wants to see besides. */
  readonly context?: () => Promise<string>
}

const SHORTEST_POLL_MS = 10
// A caller that has waited long can wait a little longer: each check takes CPU time from the work it waits for.
const SHARE_OF_WAIT = 0.1

/** Asks again and again until there is an answer; an error counts as none. Fails with the last error and the context. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  { ms = 60_000, pollMs = 100, context = async () => '' }: WaitOptions = {},
): Promise<T> {
  const started = performance.now()
  for (;;) {
    let failure: unknown
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      failure = error
    }
    if (performance.now() - started > ms) {
      throw new Error(`Cannot wait for ${what}: not after ${ms} ms\n${await context()}`, { cause: failure })
    }
    await sleep(Math.min(Math.max((performance.now() - started) * SHARE_OF_WAIT, SHORTEST_POLL_MS), pollMs))
  }
}

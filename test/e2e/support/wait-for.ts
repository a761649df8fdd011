import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  /** Generous: only what never comes should run into it. */
  readonly ms?: number
  readonly pollMs?: number
  /** What a reader of the failure wants to see besides. */
  readonly context?: () => Promise<string>
}

/** Asks again and again until there is an answer; an error counts as none. Fails with the last error and the context. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  { ms = 20_000, pollMs = 20, context = async () => '' }: WaitOptions = {},
): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    let failure: unknown
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      failure = error
    }
    if (performance.now() > end) {
      throw new Error(`Cannot wait for ${what}: not after ${ms} ms\n${await context()}`, { cause: failure })
    }
    await sleep(pollMs)
  }
}

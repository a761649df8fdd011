import type { Clock } from '../../base/async/clock.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'

export interface ReviewDeps {
  readonly client: Pick<KubeClient, 'send'>
  readonly clock: Clock
  readonly random: () => number
}

const TRIES = 5
const RETRIES = { firstMs: 500, longestMs: Infinity, factor: 1.5, jitter: { least: 1, extra: 0.2 } }

/** Asks the API server for a review. A review changes nothing, so it may be asked for again when no real answer came. */
export async function sendReview<T>(
  { client, clock, random }: ReviewDeps,
  review: { readonly path: string; readonly body: unknown },
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.send<T>({ method: 'POST', ...review }, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (tries === TRIES || !isWorthAnotherTry(error)) throw error
      await clock.sleep(computeBackOff(RETRIES, tries, random()), signal)
    }
  }
}

function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof KubeUnreachableError) return true
  if (!(error instanceof KubeApiError)) return false
  return [429, 500, 504].includes(error.code) || error.retryAfterSeconds !== undefined
}

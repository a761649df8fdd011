import type { Clock } from '../../base/async/clock.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { AccessMetrics } from '../../metrics/access-metrics.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'

export interface ReviewDeps {
  readonly client: Pick<KubeClient, 'send'>
  readonly clock: Clock
  readonly random: () => number
  readonly metrics: Pick<AccessMetrics, 'reviewAsked'>
}

const TRIES = 5
// What a server answers that made the review.
const CREATED = '201'
const RETRIES = { firstMs: 500, longestMs: Infinity, factor: 1.5, jitter: { least: 1, extra: 0.2 } }

/** Asks the API server for a review. A review changes nothing, so it may be asked for again when no real answer came. */
export async function sendReview<T>(
  { client, clock, random, metrics }: ReviewDeps,
  { kind, ...review }: { readonly kind: 'authn' | 'authz'; readonly path: string; readonly body: unknown },
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const startedAt = clock.monotonic()
    const count = (code: string) => metrics.reviewAsked({ kind, code, seconds: (clock.monotonic() - startedAt) / 1000 })
    try {
      const answer = await client.send<T>({ method: 'POST', ...review }, signal)
      count(CREATED)
      return answer
    } catch (error) {
      if (signal.aborted) throw signal.reason
      count(error instanceof KubeApiError ? String(error.code) : '<error>')
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

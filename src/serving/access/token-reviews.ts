import { createHmac, randomBytes } from 'node:crypto'
import type { AccessMetrics } from '../../metrics/access-metrics.ts'
import { ExpiringCache } from './expiring-cache.ts'
import { invalidCredential, validCredential } from './credential-result.ts'
import type { CredentialResult } from './credential-result.ts'
import { sendReview } from './send-review.ts'
import type { ReviewDeps } from './send-review.ts'
import { SharedLookups } from './shared-lookups.ts'

export interface TokenReviewsDeps extends ReviewDeps {
  /** How long an answer holds, yes or no. */
  readonly cacheTtlMs: number
  readonly metrics: ReviewDeps['metrics'] & Pick<AccessMetrics, 'tokenJudged' | 'tokenFetch' | 'tokenWait'>
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean
    readonly error?: string
    readonly user?: {
      readonly username?: string
      readonly uid?: string
      readonly groups?: readonly string[]
      readonly extra?: Readonly<Record<string, readonly string[]>>
    }
  }
}

const MAX_REMEMBERED = 4096

/** Asks the API server whose a token is. Answers are remembered, failures to get one are not. */
export class TokenReviews {
  readonly #deps: TokenReviewsDeps
  readonly #answers: ExpiringCache<CredentialResult>
  readonly #lookups: SharedLookups<CredentialResult>
  // Of this process alone: what is in memory is no token, and cannot be compared with a list of tokens either.
  readonly #key = randomBytes(32)

  constructor(deps: TokenReviewsDeps, lifetime: AbortSignal) {
    this.#deps = deps
    this.#answers = new ExpiringCache({ clock: deps.clock, limit: MAX_REMEMBERED })
    this.#lookups = new SharedLookups(deps.clock, lifetime)
  }

  /** Fails when the API server gave no answer. */
  async authenticate(token: string, signal: AbortSignal): Promise<CredentialResult> {
    const key = createHmac('sha256', this.#key).update(token).digest('base64')
    const { clock, metrics } = this.#deps
    const startedAt = clock.monotonic()
    const known = this.#answers.get(key)
    try {
      return known ?? (await this.#lookUp(key, token, signal))
    } finally {
      metrics.tokenJudged({ isHit: known !== undefined, seconds: (clock.monotonic() - startedAt) / 1000 })
    }
  }

  async #lookUp(key: string, token: string, signal: AbortSignal): Promise<CredentialResult> {
    const { metrics, cacheTtlMs } = this.#deps
    metrics.tokenWait(1)
    try {
      return await this.#lookups.find(
        key,
        async (s) => {
          const answer = await this.#fetch(token, s)
          this.#answers.set(key, answer, cacheTtlMs)
          return answer
        },
        signal,
      )
    } finally {
      metrics.tokenWait(-1)
    }
  }

  async #fetch(token: string, signal: AbortSignal): Promise<CredentialResult> {
    const { metrics } = this.#deps
    metrics.tokenFetch('begun')
    let end: 'ok' | 'error' = 'error'
    try {
      const answer = await this.#ask(token, signal)
      end = 'ok'
      return answer
    } finally {
      metrics.tokenFetch(end)
    }
  }

  async #ask(token: string, signal: AbortSignal): Promise<CredentialResult> {
    const review = {
      kind: 'authn' as const,
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    }
    const { status } = await sendReview<TokenReview>(this.#deps, review, signal)
    const { username, uid, groups = [], extra } = status?.user ?? {}
    if (status?.authenticated !== true)
      return invalidCredential(`the API server refuses the token: ${status?.error ?? 'no reason given'}`)
    if (username === undefined || username === '')
      return invalidCredential('the API server names no user for the token')
    return validCredential({
      name: username,
      ...(uid === undefined || uid === '' ? {} : { uid }),
      groups,
      ...(extra === undefined ? {} : { extra }),
    })
  }
}

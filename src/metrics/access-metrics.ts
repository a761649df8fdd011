import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of questions about who calls the agent's API, and what they may. */
export interface AccessMetrics {
  /** One attempt to have the API server judge a token (authn) or a request (authz); the code is "<error>" when no answer came. */
  reviewAsked(review: { readonly kind: 'authn' | 'authz'; readonly code: string; readonly seconds: number }): void
  /** A token was judged: by an answer that is remembered (hit), or not. */
  tokenJudged(judged: { readonly isHit: boolean; readonly seconds: number }): void
  /** The API server is asked about a token; that has ended, well or not. */
  tokenFetch(state: 'begun' | 'ok' | 'error'): void
  /** A request waits for such an answer, or no longer. */
  tokenWait(change: 1 | -1): void
  /** A client showed a certificate that is good for so many seconds. */
  clientCertificateSeen(secondsLeft: number): void
}

const REVIEW_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10]
const HOUR = 3600
const DAY = 24 * HOUR
const CERTIFICATE_BUCKETS = [
  0,
  HOUR / 2,
  ...[1, 2, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * DAY),
]

export function createAccessMetrics(set: MetricSet): AccessMetrics {
  const certificates = set.histogram({
    name: 'apiserver_client_certificate_expiration_seconds',
    help: 'How long certificates of clients are still good when they are shown.',
    buckets: CERTIFICATE_BUCKETS,
  })
  return {
    ...createReviewMetrics(set),
    ...createTokenMetrics(set),
    clientCertificateSeen: (secondsLeft) => certificates.observe(secondsLeft),
  }
}

function createReviewMetrics(set: MetricSet): Pick<AccessMetrics, 'reviewAsked'> {
  const create = (kind: 'authn' | 'authz', what: string) => {
    const name = (end: string) => `apiserver_delegated_${kind}_request_${end}`
    const labels = ['code'] as const
    return {
      total: set.counter({ name: name('total'), help: `Requests to the API server to judge ${what}.`, labels }),
      durations: set.histogram({
        name: name('duration_seconds'),
        help: `How long the API server takes to judge ${what}.`,
        labels,
        buckets: REVIEW_BUCKETS,
      }),
    }
  }
  const all = { authn: create('authn', 'a token'), authz: create('authz', 'a request') }
  return {
    reviewAsked({ kind, code, seconds }) {
      all[kind].total.inc({ code })
      all[kind].durations.observe({ code }, seconds)
    },
  }
}

function createTokenMetrics(set: MetricSet): Pick<AccessMetrics, 'tokenJudged' | 'tokenFetch' | 'tokenWait'> {
  const labels = ['status'] as const
  const name = (end: string) => `authentication_token_cache_${end}`
  const requests = set.counter({ name: name('request_total'), help: 'Tokens that were judged.', labels })
  const durations = set.histogram({
    name: name('request_duration_seconds'),
    help: 'How long it takes to judge a token.',
    labels,
  })
  const fetches = set.counter({ name: name('fetch_total'), help: 'Questions about tokens, by how they ended.', labels })
  const active = set.gauge({
    name: name('active_fetch_count'),
    help: 'Questions about tokens that are under way, and requests that wait for them.',
    labels,
  })
  return {
    tokenJudged({ isHit, seconds }) {
      const status = isHit ? 'hit' : 'miss'
      requests.inc({ status })
      durations.observe({ status }, seconds)
    },
    tokenFetch(state) {
      active.inc({ status: 'in_flight' }, state === 'begun' ? 1 : -1)
      if (state !== 'begun') fetches.inc({ status: state })
    },
    tokenWait: (change) => active.inc({ status: 'blocked' }, change),
  }
}

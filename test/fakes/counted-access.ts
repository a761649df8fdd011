import type { AccessMetrics } from '../../src/metrics/access-metrics.ts'

/** Writes down what is counted of questions about callers. */
export function countAccess(): { readonly metrics: AccessMetrics; readonly counted: string[] } {
  const counted: string[] = []
  const metrics: AccessMetrics = {
    reviewAsked: ({ kind, code, seconds }) => void counted.push(`${kind} ${code} ${seconds}`),
    tokenJudged: ({ isHit }) => void counted.push(isHit ? 'hit' : 'miss'),
    tokenFetch: (state) => void counted.push(`fetch ${state}`),
    tokenWait: (change) => void counted.push(`wait ${change}`),
    clientCertificateSeen: (secondsLeft) => void counted.push(`certificate ${secondsLeft}`),
  }
  return { metrics, counted }
}

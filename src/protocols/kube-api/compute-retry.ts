/** How an attempt failed. */
export type FailedAttempt =
  /** The server answered with an error, perhaps saying when to come again. */
  | { readonly kind: 'refused'; readonly code: number; readonly retryAfterSeconds: number | undefined }
  /** The connection broke before the server began with the request; it says so itself, or nothing was sent. */
  | { readonly kind: 'not started' }
  /** The connection broke, and the server may have done what was asked. */
  | { readonly kind: 'broken' }
  /** Anything else. */
  | { readonly kind: 'other' }

const MOST_ATTEMPTS = 11
// A connection that ends under many requests is replaced by one that serves them; if that ends too, something is wrong.
const MOST_STARTS = 4
const AFTER_BREAK_MS = 1000
// A server that names a later time is asked again by the caller, later.
const LONGEST_WAIT_SECONDS = 60

/**
 * Milliseconds until a request is sent again; undefined: it failed. What creates something is only repeated when the server cannot have
 * done it: it says that it is too busy (429, 503), or never began.
 */
export function computeRetry(
  failure: FailedAttempt,
  { method, attempt, chance }: { readonly method: string; readonly attempt: number; readonly chance: number },
): number | undefined {
  if (attempt >= MOST_ATTEMPTS) return undefined
  switch (failure.kind) {
    case 'refused': {
      const { code, retryAfterSeconds } = failure
      if (retryAfterSeconds === undefined || retryAfterSeconds > LONGEST_WAIT_SECONDS) return undefined
      const isWorth = code === 429 || code === 503 || (code >= 500 && method !== 'POST')
      return isWorth ? retryAfterSeconds * 1000 : undefined
    }
    case 'not started':
      return attempt < MOST_STARTS ? 0 : undefined
    case 'broken':
      return method === 'GET' ? AFTER_BREAK_MS * (0.5 + chance) : undefined
    case 'other':
      return undefined
  }
}

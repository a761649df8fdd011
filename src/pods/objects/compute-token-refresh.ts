const LONGEST_AGE_MS = 24 * 60 * 60 * 1000
const LEAST_LEFT_SHARE = 0.2
const LARGEST_JITTER_MS = 10_000

/** Is it time for a new token? At four fifths of its life, but at least every day; chance (0 to 1) spreads tokens of one moment. */
export function computeTokenRefresh(
  token: { readonly expiresAt: number; readonly lifeSeconds: number },
  now: number,
  chance: number,
): boolean {
  const lifeMs = token.lifeSeconds * 1000
  const jitterMs = chance * LARGEST_JITTER_MS
  const age = now - (token.expiresAt - lifeMs)
  const left = token.expiresAt - now
  return age > LONGEST_AGE_MS - jitterMs || left < lifeMs * LEAST_LEFT_SHARE + jitterMs
}

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Whose rights a link gives: those of the administrator's kubeconfig file, or those of the reader's. */
export type PageIdentity = 'admin' | 'reader'

/** How long a link can be used. */
const LINK_LASTS_MS = 15 * 60_000

const NONCE_BYTES = 18
const IDENTITIES: readonly PageIdentity[] = ['admin', 'reader']

/** Makes the token of a link: who holds the key may let others in, each once. */
export function issueLinkToken(key: string, identity: PageIdentity, now: number): string {
  const claim = [identity, now + LINK_LASTS_MS, randomBytes(NONCE_BYTES).toString('base64url')].join('.')
  return `${claim}.${sign(key, claim)}`
}

/** Accepts each token of a key once, as long as it lasts. */
export class LinkTokens {
  readonly #key: string
  /** Nonce to end: a token cannot be used again before it has ended. */
  readonly #used = new Map<string, number>()

  constructor(key: string) {
    this.#key = key
  }

  /** Whom the token lets in; undefined when it is not one of ours, too old, or was used. */
  redeem(token: string, now: number): PageIdentity | undefined {
    for (const [nonce, end] of this.#used) if (end <= now) this.#used.delete(nonce)
    const [name = '', end = '', nonce = '', signature = '', ...rest] = token.split('.')
    const identity = IDENTITIES.find((each) => each === name)
    const endsAt = Number(end)
    if (identity === undefined || rest.length > 0 || !isSame(signature, sign(this.#key, `${name}.${end}.${nonce}`)))
      return undefined
    if (!(endsAt > now) || this.#used.has(nonce)) return undefined
    this.#used.set(nonce, endsAt)
    return identity
  }
}

function sign(key: string, claim: string): string {
  return createHmac('sha256', key).update(claim).digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

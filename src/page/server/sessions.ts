import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { PageIdentity } from './link-tokens.ts'

export interface Session {
  readonly identity: PageIdentity
  /** Aborts when it is noticed that the session has ended. */
  readonly ended: AbortSignal
}

interface Entry extends Session {
  readonly ending: AbortController
  /** Hash of the second half; undefined until the page has asked for it. */
  keyHash: string | undefined
  readonly endsAt: number
  usedAt: number
}

const SECRET_BYTES = 32
/** Without any request. */
export const SESSION_IDLE_MS = 12 * 3_600_000
/** With any number of requests. */
export const SESSION_LASTS_MS = 7 * 24 * 3_600_000
const MOST_SESSIONS = 32

/**
 * Who is signed in. A session has two halves: a cookie, which no script can read, and a key, which is kept by the page and sent as a header. Browsers send
 * cookies to every port of a host, so that the cookie alone may come into the hands of another user's program on the same machine; the key does not.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #sessions = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Begins one; gives the value of its cookie. */
  begin(identity: PageIdentity): string {
    this.#forgetEnded()
    const [oldest] = [...this.#sessions].sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (this.#sessions.size >= MOST_SESSIONS && oldest !== undefined) this.#end(oldest[0])
    const now = this.#clock.monotonic()
    const cookie = newSecret()
    const ending = new AbortController()
    const life = { endsAt: now + SESSION_LASTS_MS, usedAt: now, ending, ended: ending.signal }
    this.#sessions.set(hash(cookie), { identity, keyHash: undefined, ...life })
    return cookie
  }

  /** The key of a session, given out once; undefined when it was, or there is no such session. */
  takeKey(cookie: string | undefined): string | undefined {
    const entry = this.#find(cookie)
    if (entry === undefined || entry.keyHash !== undefined) return undefined
    const key = newSecret()
    entry.keyHash = hash(key)
    return key
  }

  /** The session of both halves. */
  find(cookie: string | undefined, key: string | undefined): Session | undefined {
    const entry = this.#find(cookie)
    if (entry?.keyHash === undefined || key === undefined || entry.keyHash !== hash(key)) return undefined
    entry.usedAt = this.#clock.monotonic()
    return entry
  }

  end(cookie: string | undefined): void {
    if (cookie !== undefined) this.#end(hash(cookie))
  }

  #find(cookie: string | undefined): Entry | undefined {
    this.#forgetEnded()
    return cookie === undefined ? undefined : this.#sessions.get(hash(cookie))
  }

  #forgetEnded(): void {
    const now = this.#clock.monotonic()
    for (const [id, { endsAt, usedAt }] of this.#sessions)
      if (endsAt <= now || usedAt + SESSION_IDLE_MS <= now) this.#end(id)
  }

  #end(id: string): void {
    this.#sessions.get(id)?.ending.abort(new Error('The session has ended'))
    this.#sessions.delete(id)
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

// Secrets of this length are compared by their hashes: how long that takes says nothing about them.
function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

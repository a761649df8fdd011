import type { Clock } from '../../base/async/clock.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { computeTokenRefresh } from './compute-token-refresh.ts'
import type { ObjectApi, NamespacedName, Token, TokenSpec } from './object-api.ts'

export interface TokenCacheDeps {
  readonly api: Pick<ObjectApi, 'createToken'>
  /** Requests are shared, so they do not end with the one who asked first. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

interface Entry {
  /** The pod that the token ends with. */
  readonly uid: string | undefined
  token: Token | undefined
  asking: Promise<Token> | undefined
}

const SWEEP_MS = 60_000

/** Tokens of service accounts, asked for again long before they end. None of them ever goes into a log or a message. */
export class TokenCache {
  readonly #deps: TokenCacheDeps
  readonly #entries = new Map<string, Entry>()
  #sweptAt: number

  constructor(deps: TokenCacheDeps) {
    this.#deps = deps
    this.#sweptAt = deps.clock.monotonic()
  }

  get size(): number {
    return this.#entries.size
  }

  async get(account: NamespacedName, spec: TokenSpec, signal: AbortSignal): Promise<Token> {
    this.#sweep()
    const { clock, random } = this.#deps
    const { audiences, expirationSeconds, accountUid = '' } = spec
    const { namespace, name } = account
    const key = JSON.stringify([namespace, name, accountUid, audiences, expirationSeconds, boundTo(spec)])
    const entry = this.#entries.getOrInsertComputed(key, () => ({
      uid: spec.boundObject?.uid,
      token: undefined,
      asking: undefined,
    }))
    if (entry.token !== undefined && !computeTokenRefresh(entry.token, clock.now(), random())) return entry.token
    entry.asking ??= this.#ask(key, entry, account, spec)
    return await waitForShared(entry.asking, signal)
  }

  /** A pod is gone: its tokens are worth nothing any more. */
  forget(uid: PodUid): void {
    for (const [key, entry] of this.#entries) if (entry.uid === uid) this.#entries.delete(key)
  }

  async #ask(key: string, entry: Entry, account: NamespacedName, spec: TokenSpec): Promise<Token> {
    const { api, signal, clock, log } = this.#deps
    try {
      entry.token = await api.createToken(account, spec, signal)
      return entry.token
    } catch (error) {
      if (entry.token !== undefined && entry.token.expiresAt > clock.now()) {
        log.warn('cannot renew a token, the one at hand is still good', {
          serviceAccount: `${account.namespace}/${account.name}`,
          pod: spec.boundObject?.uid,
          error,
        })
        return entry.token
      }
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
      throw error
    } finally {
      entry.asking = undefined
    }
  }

  #sweep(): void {
    const { clock } = this.#deps
    if (clock.monotonic() - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = clock.monotonic()
    const now = clock.now()
    for (const [key, { token, asking }] of this.#entries)
      if (asking === undefined && token !== undefined && token.expiresAt <= now) this.#entries.delete(key)
  }
}

function boundTo({ boundObject }: TokenSpec): readonly string[] {
  return boundObject === undefined ? [] : [boundObject.kind, boundObject.name, boundObject.uid]
}

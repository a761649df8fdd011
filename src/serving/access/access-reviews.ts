import type { Caller } from '../http/route.ts'
import { ExpiringCache } from './expiring-cache.ts'
import { sendReview } from './send-review.ts'
import type { ReviewDeps } from './send-review.ts'
import { SharedLookups } from './shared-lookups.ts'

export interface AccessReviewsDeps extends ReviewDeps {
  readonly nodeName: string
  readonly allowedTtlMs: number
  readonly deniedTtlMs: number
}

interface AccessReview {
  readonly status?: { readonly allowed?: boolean }
}

const MAX_REMEMBERED = 4096
// Who has so many groups or so long a name would fill the memory with answers.
const MAX_QUESTION_BYTES = 10_000

/** Asks the API server what a caller may do with this node. Answers are remembered, failures to get one are not. */
export class AccessReviews {
  readonly #deps: AccessReviewsDeps
  readonly #answers: ExpiringCache<boolean>
  readonly #lookups: SharedLookups<boolean>

  constructor(deps: AccessReviewsDeps, lifetime: AbortSignal) {
    this.#deps = deps
    this.#answers = new ExpiringCache({ clock: deps.clock, limit: MAX_REMEMBERED })
    this.#lookups = new SharedLookups(deps.clock, lifetime)
  }

  /** Fails when the API server gave no answer. */
  async isAllowed(
    caller: Caller,
    { verb, subresource }: { readonly verb: string; readonly subresource: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { name, uid, groups, extra } = caller
    const spec = {
      user: name,
      ...(uid === undefined ? {} : { uid }),
      groups,
      ...(extra === undefined ? {} : { extra }),
      resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: this.#deps.nodeName },
    }
    const key = JSON.stringify(spec)
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    return await this.#lookups.find(key, (s) => this.#ask(spec, key, s), signal)
  }

  async #ask(spec: object, key: string, signal: AbortSignal): Promise<boolean> {
    const { allowedTtlMs, deniedTtlMs } = this.#deps
    const review = {
      kind: 'authz' as const,
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
    }
    const { status } = await sendReview<AccessReview>(this.#deps, review, signal)
    const allowed = status?.allowed === true
    if (key.length < MAX_QUESTION_BYTES) this.#answers.set(key, allowed, allowed ? allowedTtlMs : deniedTtlMs)
    return allowed
  }
}

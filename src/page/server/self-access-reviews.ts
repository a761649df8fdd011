import type { Clock } from '../../base/async/clock.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { AccessQuestion } from '../messages/page-message.ts'

interface AccessReview {
  readonly status?: { readonly allowed?: boolean }
}

/** A right that was given or taken is noticed after this. */
const REVIEW_LASTS_MS = 30_000
const MOST_KNOWN = 500
const DEADLINE_MS = 5000

/** What a user may do, as the API says it. It only decides what is offered: the API itself refuses the rest. */
export class SelfAccessReviews {
  readonly #deps: { readonly client: KubeClient; readonly clock: Clock }
  readonly #known = new Map<string, { readonly at: number; readonly answer: Promise<boolean> }>()

  constructor(deps: { readonly client: KubeClient; readonly clock: Clock }) {
    this.#deps = deps
  }

  async may(questions: readonly AccessQuestion[], signal: AbortSignal): Promise<readonly boolean[]> {
    return await Promise.all(questions.map((question) => this.#review(question, signal)))
  }

  async #review(question: AccessQuestion, signal: AbortSignal): Promise<boolean> {
    const { verb, group, resource, subresource, namespace, name } = question
    const resourceAttributes = { verb, group, resource, subresource, namespace, name }
    const key = JSON.stringify(resourceAttributes)
    const now = this.#deps.clock.monotonic()
    const known = this.#known.get(key)
    if (known !== undefined && now - known.at < REVIEW_LASTS_MS) return await known.answer
    const answer = this.#ask(resourceAttributes, signal)
    this.#known.delete(key)
    this.#known.set(key, { at: now, answer })
    // Who asks next asks again.
    answer.catch(() => this.#known.delete(key))
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
    return await answer
  }

  async #ask(resourceAttributes: object, signal: AbortSignal): Promise<boolean> {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const kind = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' }
    const body = { ...kind, spec: { resourceAttributes } }
    const request = { method: 'POST', path, body, timeoutMs: DEADLINE_MS } as const
    return (await this.#deps.client.send<AccessReview>(request, signal)).status?.allowed === true
  }
}

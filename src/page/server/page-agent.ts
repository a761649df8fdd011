import type { Clock } from '../../base/async/clock.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { SummaryInput } from '../messages/compute-sample.ts'
import type { RefusedFile } from '../messages/page-message.ts'

/** What the agent of the node answers, to a caller that may ask everything. */
export interface NodeAgent {
  ask(path: string, signal: AbortSignal): Promise<unknown>
  /** Files of the user that others than the agent refuse. */
  readProblems(): Promise<readonly RefusedFile[]>
}

interface Explained {
  readonly uid: string
  readonly why: string
}

/** The agent as one user may ask it. */
export interface PageAgent {
  /** What the user may not see; undefined: nothing. */
  readonly refusal: string | undefined
  explain(
    signal: AbortSignal,
  ): Promise<{ readonly pods: readonly Explained[]; readonly refused: readonly RefusedFile[] }>
  /** The steps of one pod, as in /why?pod=; undefined when the user may not see them. */
  explainPod(pod: string, signal: AbortSignal): Promise<unknown>
  /** Undefined when the user may not see it. */
  summarize(signal: AbortSignal): Promise<SummaryInput | undefined>
}

interface AccessReview {
  readonly status?: { readonly allowed?: boolean }
}

const REVIEW_LASTS_MS = 60_000
const DEADLINE_MS = 5000

/**
 * Asks the agent for a user of the API. The agent's socket answers root everything, so the API is asked first whether the user may see that part of the node: the
 * same question that the agent's own port asks.
 */
export class ReviewedAgent implements PageAgent {
  readonly #deps: {
    readonly client: KubeClient
    readonly agent: NodeAgent
    readonly nodeName: string
    readonly clock: Clock
  }
  readonly #reviews = new Map<string, { readonly at: number; readonly allowed: boolean }>()

  constructor(deps: {
    readonly client: KubeClient
    readonly agent: NodeAgent
    readonly nodeName: string
    readonly clock: Clock
  }) {
    this.#deps = deps
  }

  get refusal(): string | undefined {
    const missing = [...this.#reviews].flatMap(([name, { allowed }]) => (allowed ? [] : [`nodes/${name}`]))
    return missing.length === 0 ? undefined : `This user may not see ${missing.join(' and ')}`
  }

  async explain(signal: AbortSignal): ReturnType<PageAgent['explain']> {
    if (!(await this.#may('pods', signal))) return { pods: [], refused: [] }
    const { pods = [], manifests = [] } = (await this.#deps.agent.ask('/why?steps=false', signal)) as {
      readonly pods?: readonly Explained[]
      readonly manifests?: readonly RefusedFile[]
    }
    return { pods, refused: [...manifests, ...(await this.#deps.agent.readProblems())] }
  }

  async explainPod(pod: string, signal: AbortSignal): Promise<unknown> {
    if (!(await this.#may('pods', signal))) return undefined
    return await this.#deps.agent.ask(`/why?pod=${encodeURIComponent(pod)}`, signal)
  }

  async summarize(signal: AbortSignal): Promise<SummaryInput | undefined> {
    if (!(await this.#may('stats', signal))) return undefined
    return (await this.#deps.agent.ask('/stats/summary', signal)) as SummaryInput
  }

  async #may(subresource: string, signal: AbortSignal): Promise<boolean> {
    const { client, clock, nodeName: name } = this.#deps
    const known = this.#reviews.get(subresource)
    if (known !== undefined && clock.monotonic() - known.at < REVIEW_LASTS_MS) return known.allowed
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'nodes', subresource, name } },
    }
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const review = await client.send<AccessReview>({ method: 'POST', path, body, timeoutMs: DEADLINE_MS }, signal)
    const allowed = review.status?.allowed === true
    this.#reviews.set(subresource, { at: clock.monotonic(), allowed })
    return allowed
  }
}

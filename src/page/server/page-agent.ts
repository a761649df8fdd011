import type { Clock } from '../../base/async/clock.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { computeSample } from '../messages/compute-sample.ts'
import type { Sample, SummaryInput } from '../messages/compute-sample.ts'
import type { AgentImage } from '../messages/compute-storage-view.ts'
import type { RefusedFile } from '../messages/page-message.ts'
import { toSample } from './live/stats-history.ts'
import type { AgentHistory } from './live/stats-history.ts'

/** What the agent of the node answers, to a caller that may ask everything. */
export interface NodeAgent {
  /** The right that every question needs; undefined: it depends on the question. */
  readonly right?: 'proxy'
  /** Undefined when it knows no such path, or nothing of what is asked for there. */
  ask(path: string, signal: AbortSignal): Promise<unknown>
  /** Files of the user that others than the agent refuse. */
  readProblems(): Promise<readonly RefusedFile[]>
  /** Pulls an image; absent where that is not possible from here. */
  readonly pullImage?: (image: string, signal: AbortSignal) => Promise<void>
}

interface Explained {
  readonly uid: string
  readonly why: string
}

/** The agent as one user may ask it. */
export interface PageAgent {
  /** What the user may not see; undefined: nothing. */
  readonly refusal: string | undefined
  /** What this agent cannot say to anyone; undefined: nothing. */
  readonly missing: string | undefined
  explain(
    signal: AbortSignal,
  ): Promise<{ readonly pods: readonly Explained[]; readonly refused: readonly RefusedFile[] }>
  /** The steps of one pod, as in /why?pod=; undefined when the user may not see them, or there are none. */
  explainPod(pod: string, signal: AbortSignal): Promise<unknown>
  /** What was measured before the page was opened; undefined where nothing was, or the user may not see it. */
  history(signal: AbortSignal): Promise<AgentHistory | undefined>
  /** Undefined where the agent does not list them, or the user may not see them. */
  images(signal: AbortSignal): Promise<readonly AgentImage[] | undefined>
  /** CPU and memory of the node and its pods as they are now; undefined when the user may not see it. */
  sample(signal: AbortSignal): Promise<Sample | undefined>
  /** The same with disks and volumes, which cost the agent more; undefined when the user may not see it. */
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
  #lacksWhy = false
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

  get missing(): string | undefined {
    return this.#lacksWhy
      ? 'The kubelet of this node is not Deckhand: it does not say why pods are as they are, nor their steps and what probes answered, nor which files it refused; plots begin when the page is opened.'
      : undefined
  }

  async explain(signal: AbortSignal): ReturnType<PageAgent['explain']> {
    if (!(await this.#may('pods', signal))) return { pods: [], refused: [] }
    const answer = await this.#deps.agent.ask('/why?steps=false', signal)
    this.#lacksWhy = answer === undefined
    const { pods = [], manifests = [] } = (answer ?? {}) as {
      readonly pods?: readonly Explained[]
      readonly manifests?: readonly RefusedFile[]
    }
    return { pods, refused: [...manifests, ...(await this.#deps.agent.readProblems())] }
  }

  async explainPod(pod: string, signal: AbortSignal): Promise<unknown> {
    if (!(await this.#may('pods', signal))) return undefined
    return await this.#deps.agent.ask(`/why?pod=${encodeURIComponent(pod)}`, signal)
  }

  async history(signal: AbortSignal): Promise<AgentHistory | undefined> {
    if (!(await this.#may('stats', signal))) return undefined
    return (await this.#deps.agent.ask('/stats/history', signal)) as AgentHistory | undefined
  }

  async images(signal: AbortSignal): Promise<readonly AgentImage[] | undefined> {
    if (!(await this.#may('pods', signal))) return undefined
    const answer = (await this.#deps.agent.ask('/why/images', signal)) as
      | { readonly images?: readonly AgentImage[] }
      | undefined
    return answer?.images
  }

  async summarize(signal: AbortSignal): Promise<SummaryInput | undefined> {
    if (!(await this.#may('stats', signal))) return undefined
    return (await this.#deps.agent.ask('/stats/summary', signal)) as SummaryInput
  }

  async sample(signal: AbortSignal): Promise<Sample | undefined> {
    if (!(await this.#may('stats', signal))) return undefined
    const { agent, clock } = this.#deps
    const latest = this.#lacksWhy
      ? undefined
      : ((await agent.ask('/stats/history?latest=true', signal)) as AgentHistory | undefined)
    if (latest?.times.length === 1) return atTime(toSample(latest, 0), clock.now())
    // Another kubelet, or one of an earlier release.
    const summary = await this.summarize(signal)
    return summary && computeSample(summary, clock.now())
  }

  async #may(part: 'pods' | 'stats', signal: AbortSignal): Promise<boolean> {
    const { client, agent, clock, nodeName: name } = this.#deps
    const subresource = agent.right ?? part
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

/** By the clock of the page: the agent may give one measurement twice. */
function atTime({ node, pods }: Sample, at: number): Sample {
  return { node: { ...node, at }, pods }
}

import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import type { Wakeup } from '../../../base/async/wakeup.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { computeVolumeUses } from '../../messages/compute-sample.ts'
import type { SummaryInput } from '../../messages/compute-sample.ts'
import type { PageMessage, ProblemSource, RefusedFile, UsageView } from '../../messages/page-message.ts'
import type { PageAgent } from '../page-agent.ts'
import { StatsHistory } from './stats-history.ts'

export interface AgentFeedDeps {
  readonly agent: PageAgent
  readonly clock: Clock
  /** Ends everything. */
  readonly stop: AbortSignal
  /** Wakes when something of the API has changed: the agent may have another reason then. */
  readonly changed: Wakeup
  readonly send: (message: PageMessage) => void
  readonly setProblem: (source: ProblemSource, text: string | undefined) => void
}

const SAMPLE_MS = 10_000
/** Sentences are asked for when something has changed, but not more often than this. */
const LEAST_PAUSE_MS = 500
const DEADLINE_MS = 8000

/** What the agent says about its pods: why they are as they are, which manifests it refuses, and what they use. */
export class AgentFeed {
  readonly #deps: AgentFeedDeps
  readonly #history = new StatsHistory()
  #sentences = new Map<string, string>()
  #refused: readonly RefusedFile[] = []
  #summary: { readonly at: number; readonly answer: Promise<SummaryInput | undefined> } | undefined

  constructor(deps: AgentFeedDeps) {
    this.#deps = deps
  }

  /** All that is known, for a page that opens. */
  *snapshot(): Iterable<PageMessage> {
    if (this.#sentences.size > 0) yield { kind: 'why', sentences: Object.fromEntries(this.#sentences) }
    yield { kind: 'refused', files: this.#refused }
    yield { kind: 'history', node: this.#history.node, pods: this.#history.pods }
  }

  /** Forgets what is old when the next page opens. */
  forget(): void {
    this.#summary = undefined
    this.#sentences.clear()
  }

  /** What one pod used in the last hour, and what it takes of the disk. */
  async usageOf(uid: string, signal: AbortSignal): Promise<UsageView> {
    const summary = await this.summarize(signal)
    const pod = summary?.pods?.find(({ podRef }) => podRef.uid === uid)
    const volumes = pod === undefined ? [] : computeVolumeUses(pod)
    return { ...this.#history.ofPod(uid), volumes, ephemeralBytes: pod?.['ephemeral-storage']?.usedBytes }
  }

  /** What the node and its pods use, with disks: asked for only by pages that show them, and once for all of them. */
  async summarize(signal: AbortSignal): Promise<SummaryInput | undefined> {
    const { clock, agent, stop } = this.#deps
    if (this.#summary === undefined || clock.monotonic() - this.#summary.at >= SAMPLE_MS) {
      const limit = { clock, ms: DEADLINE_MS, what: 'the measurement' }
      const answer = withDeadline(limit, (s) => agent.summarize(s), stop)
      this.#summary = { at: clock.monotonic(), answer }
      answer.catch(() => (this.#summary = undefined))
    }
    return await waitForShared(this.#summary.answer, signal)
  }

  /** Asks the agent until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, agent } = this.#deps
    let nextSampleAt = 0
    let hasHistory = false
    for (;;) {
      try {
        if (!hasHistory) await this.#recall(signal)
        hasHistory = true
        await this.#explain(signal)
        this.#deps.setProblem('missing', agent.missing)
        if (clock.monotonic() >= nextSampleAt) {
          nextSampleAt = clock.monotonic() + SAMPLE_MS
          await this.#sample(signal)
        }
        this.#deps.setProblem('agent', agent.refusal)
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.setProblem(
          'agent',
          `The agent does not answer, what it says of pods may be old: ${errorMessage(error)}`,
        )
      }
      await clock.sleep(LEAST_PAUSE_MS, signal)
      await this.#deps.changed.wait({ clock, ms: Math.max(0, nextSampleAt - clock.monotonic()) }, signal)
    }
  }

  /** What the agent measured while no page was open. */
  async #recall(signal: AbortSignal): Promise<void> {
    const { clock, agent } = this.#deps
    const limit = { clock, ms: DEADLINE_MS, what: 'what was measured before' }
    const history = await withDeadline(limit, (s) => agent.history(s), signal)
    if (history === undefined) return
    this.#history.prepend(history)
    this.#deps.send({ kind: 'history', node: this.#history.node, pods: this.#history.pods })
  }

  async #explain(signal: AbortSignal): Promise<void> {
    const { clock, agent } = this.#deps
    const answer = await withDeadline(
      { clock, ms: DEADLINE_MS, what: 'the question why pods are as they are' },
      (s) => agent.explain(s),
      signal,
    )
    const now = new Map(answer.pods.map(({ uid, why }) => [uid, why]))
    const changed = [...now].filter(([uid, why]) => this.#sentences.get(uid) !== why)
    const gone = [...this.#sentences.keys()].filter((uid) => !now.has(uid))
    if (changed.length + gone.length > 0) {
      this.#sentences = now
      const lost = gone.map((uid): [string, null] => [uid, null])
      this.#deps.send({ kind: 'why', sentences: Object.fromEntries([...changed, ...lost]) })
    }
    if (JSON.stringify(answer.refused) === JSON.stringify(this.#refused)) return
    this.#refused = answer.refused
    this.#deps.send({ kind: 'refused', files: answer.refused })
  }

  async #sample(signal: AbortSignal): Promise<void> {
    const { clock, agent } = this.#deps
    const limit = { clock, ms: DEADLINE_MS, what: 'the measurement' }
    const sample = await withDeadline(limit, (s) => agent.sample(s), signal)
    if (sample === undefined) return
    this.#history.add(sample)
    this.#deps.send({ kind: 'sample', ...sample })
  }
}

import { TaskGroup } from '../../../base/async/task-group.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { Event, Node, Pod } from '../../../model/generated/core-v1.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { ObjectEvent } from '../../../protocols/kube-api/list-watch/kube-object.ts'
import { runListWatch } from '../../../protocols/kube-api/list-watch/run-list-watch.ts'
import { computeEventRow } from '../../messages/compute-event-row.ts'
import { computeNodeView } from '../../messages/compute-node-view.ts'
import { computeAgentUid, computePodRow } from '../../messages/compute-pod-row.ts'
import type { SummaryInput } from '../../messages/compute-sample.ts'
import type { EventRow, NodeView, PageMessage, PodRow, ProblemSource, UsageView } from '../../messages/page-message.ts'
import type { PageAgent } from '../page-agent.ts'
import { AgentFeed } from './agent-feed.ts'

export interface FeedDeps {
  readonly client: KubeClient
  readonly agent: PageAgent
  readonly nodeName: string
  /** Whether pods of other nodes are left out. */
  readonly isOneOfMany: boolean
  /** Ends everything. */
  readonly stop: AbortSignal
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

type Subscriber = (message: PageMessage) => void

const ALIVE_MS = 10_000
const MOST_EVENTS = 200

/**
 * What all pages of one user show, kept as long as one of them is open: watched objects of the API, with the user's own rights, and what the agent says about
 * its pods. With no page open nothing of it runs.
 */
export class LiveFeed {
  readonly #deps: FeedDeps
  readonly #subscribers = new Set<Subscriber>()
  readonly #agent: AgentFeed
  readonly #changed = new Wakeup()
  #running: TaskGroup | undefined
  #pods: Map<string, PodRow> | undefined
  #events: Map<string, EventRow> | undefined
  #node: NodeView | null | undefined
  readonly #problems = new Map<ProblemSource, string>()

  constructor(deps: FeedDeps) {
    this.#deps = deps
    this.#agent = new AgentFeed({
      ...deps,
      changed: this.#changed,
      send: (message) => this.#send(message),
      setProblem: (source, text) => this.#setProblem(source, text),
    })
  }

  /** What one pod used in the last hour, and what it takes of the disk. */
  async usageOf(uid: string, signal: AbortSignal): Promise<UsageView> {
    return await this.#agent.usageOf(uid, signal)
  }

  /** What the node and its pods use, with disks: asked for only by pages that show them, and once for all of them. */
  async summarize(signal: AbortSignal): Promise<SummaryInput | undefined> {
    return await this.#agent.summarize(signal)
  }

  /** How many pages are open. */
  get readers(): number {
    return this.#subscribers.size
  }

  /** Sends all there is, then every change, until the function that it gives is called. */
  subscribe(send: Subscriber): () => void {
    this.#subscribers.add(send)
    for (const message of this.#snapshot()) send(message)
    this.#running ??= this.#start()
    return () => {
      this.#subscribers.delete(send)
      if (this.#subscribers.size === 0) this.#stop()
    }
  }

  *#snapshot(): Iterable<PageMessage> {
    if (this.#node !== undefined) yield { kind: 'node', node: this.#node }
    if (this.#pods !== undefined) yield { kind: 'pods', rows: [...this.#pods.values()] }
    if (this.#events !== undefined) yield { kind: 'events', rows: [...this.#events.values()] }
    yield* this.#agent.snapshot()
    for (const [source, text] of this.#problems) yield { kind: 'problem', source, text }
  }

  #send(message: PageMessage): void {
    for (const send of this.#subscribers) send(message)
  }

  #start(): TaskGroup {
    const { isOneOfMany, nodeName } = this.#deps
    const group = new TaskGroup(this.#deps.stop)
    let hasEvents = false
    this.#follow<Pod>(group, '/api/v1/pods', {
      ...(isOneOfMany && { query: { fieldSelector: `spec.nodeName=${nodeName}` } }),
      replace: (pods) => {
        this.#pods = new Map(pods.map((pod) => [computeAgentUid(pod), computePodRow(pod)]))
        this.#send({ kind: 'pods', rows: [...this.#pods.values()] })
        // Which events are of this node is known by its pods.
        if (!hasEvents) this.#followEvents(group)
        hasEvents = true
      },
      change: ({ type, object }) => this.#changePod(type, object),
    })
    const query = { fieldSelector: `metadata.name=${nodeName}` }
    this.#follow<Node>(group, '/api/v1/nodes', {
      query,
      replace: ([node]) => this.#setNode(node),
      change: ({ type, object }) => this.#setNode(type === 'DELETED' ? undefined : object),
    })
    group.run('agent', (s) => this.#agent.run(s))
    group.run('alive', async (s) => {
      for (;;) {
        await this.#deps.clock.sleep(ALIVE_MS, s)
        this.#send({ kind: 'alive' })
      }
    })
    return group
  }

  /** What is known is old when the next page opens. */
  #stop(): void {
    const running = this.#running
    this.#running = undefined
    this.#pods = this.#events = this.#node = undefined
    this.#agent.forget()
    this.#problems.clear()
    running?.[Symbol.asyncDispose]().catch((error: unknown) => {
      this.#deps.log.warn('the data of the page ended with an error', { error })
    })
  }

  #follow<T extends Pod | Event | Node>(
    group: TaskGroup,
    path: string,
    {
      query = {},
      replace,
      change,
    }: {
      readonly query?: Readonly<Record<string, string>>
      readonly replace: (items: readonly T[]) => void
      readonly change: (event: ObjectEvent<T>) => void
    },
  ): void {
    const { client, clock, random, log } = this.#deps
    const react = (work: () => void) => {
      // What comes after the last page has left is for none.
      if (group.signal.aborted) return
      work()
      this.#setProblem('api', undefined)
      this.#changed.wake()
    }
    group.run(path, (signal) =>
      runListWatch<T>(
        {
          client,
          path,
          query,
          clock,
          random,
          log,
          fresh: true,
          onReplace: (items) => react(() => replace(items)),
          onEvent: (event) => react(() => change(event)),
          onProblem: (error) => {
            if (!group.signal.aborted) this.#setProblem('api', errorMessage(error))
          },
        },
        signal,
      ),
    )
  }

  #followEvents(group: TaskGroup): void {
    this.#follow<Event>(group, '/api/v1/events', {
      replace: (events) => {
        const rows = events
          .filter((event) => this.#concerns(event))
          .map(computeEventRow)
          .sort((a, b) => a.at.localeCompare(b.at))
        this.#events = new Map(rows.slice(-MOST_EVENTS).map((row) => [row.uid, row]))
        this.#send({ kind: 'events', rows: [...this.#events.values()] })
      },
      change: ({ type, object }) => {
        if (type !== 'DELETED' && this.#concerns(object)) this.#addEvent(computeEventRow(object))
      },
    })
  }

  /** Whether an event is about this node, one of its pods, or comes from it. */
  #concerns({ involvedObject, source }: Event): boolean {
    const { nodeName, isOneOfMany } = this.#deps
    if (!isOneOfMany || source?.host === nodeName) return true
    const { kind, name, namespace } = involvedObject
    if (kind === 'Node') return name === nodeName
    return (
      kind === 'Pod' && (this.#pods?.values().some((pod) => pod.name === name && pod.namespace === namespace) ?? false)
    )
  }

  #changePod(type: ObjectEvent<Pod>['type'], pod: Pod): void {
    const uid = computeAgentUid(pod)
    if (type === 'DELETED') {
      this.#pods?.delete(uid)
      return this.#send({ kind: 'pod-gone', uid })
    }
    const row = computePodRow(pod)
    this.#pods?.set(uid, row)
    this.#send({ kind: 'pod', row })
  }

  #addEvent(row: EventRow): void {
    const events = this.#events ?? new Map<string, EventRow>()
    // The newest stands last.
    events.delete(row.uid)
    events.set(row.uid, row)
    const [oldest] = events.keys()
    if (events.size > MOST_EVENTS && oldest !== undefined) events.delete(oldest)
    this.#send({ kind: 'event', row })
  }

  #setNode(node: Node | undefined): void {
    const view = node === undefined ? null : computeNodeView(node)
    // Heartbeats change nothing that is shown.
    if (JSON.stringify(view) === JSON.stringify(this.#node)) return
    this.#node = view
    this.#send({ kind: 'node', node: view })
  }

  #setProblem(source: ProblemSource, text: string | undefined): void {
    if (this.#problems.get(source) === text) return
    if (text === undefined) this.#problems.delete(source)
    else this.#problems.set(source, text)
    this.#send({ kind: 'problem', source, text: text ?? null })
  }
}

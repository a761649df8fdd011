import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import { isApiAway } from '../../protocols/kube-api/is-api-away.ts'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import { HintLimit } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { CONFIG_MIRROR_ANNOTATION, podFullName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { computeMirrorActions } from './compute-mirror-actions.ts'
import type { MirrorAction, MirrorBody, MirrorInput, StaticPod } from './compute-mirror-actions.ts'
import { decodeApiPod } from './decode-api-pod.ts'

export interface MirrorPodsDeps {
  readonly client: Pick<KubeClient, 'send'>
  /** The own Node as the API has it; undefined while it is not there. */
  readonly node: () => Node | undefined
  /** The static pods that are here; also those that are ending. */
  readonly staticPods: () => readonly StaticPod[]
  /** Every source has reported what it has. */
  readonly allSeen: () => boolean
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

interface Trouble {
  readonly failures: number
  /** On the monotonic clock. */
  readonly retryAt: number
  readonly message: string
  /** How long it waits for an API that is away; undefined for an API that rejects it. */
  readonly awayMs: number | undefined
}

// Nothing is asked of the API for this: it only checks whether something was missed.
const CHECK_MS = 10_000
// A client that deletes a mirror pod waits until it is gone: kubectl waits for ever when a new pod of the same name appears before it has checked.
const ABSENCE_MS = 1000
const RETRIES = { firstMs: 1000, longestMs: 300_000, jitter: { least: 1, extra: 0.5 } }

/**
 * The pods of the API that show what static pods are at: made, made again when they are deleted or the manifest changes, and removed
 * with their static pod. Whatever happens to them, the static pod runs on.
 */
export class MirrorPods {
  readonly #deps: MirrorPodsDeps
  readonly #wakeup = new Wakeup()
  readonly #troubles = new Map<string, Trouble>()
  readonly #hints = new HintLimit()
  /** On the monotonic clock, by full name: until when a mirror that went stays away. */
  readonly #absences = new Map<string, number>()
  /** By full name. */
  #mirrors: ReadonlyMap<string, Pod> = new Map()
  #isListed = false

  constructor(deps: MirrorPodsDeps) {
    this.#deps = deps
  }

  /** The complete set of what the API has of mirror pods for this node. */
  see(mirrors: readonly Pod[]): void {
    this.#isListed = true
    const now = new Map(mirrors.map((mirror) => [podFullName(mirror), mirror]))
    for (const name of this.#mirrors.keys()) if (!now.has(name)) this.#noteAbsence(name)
    this.#mirrors = now
    this.#wakeup.wake()
  }

  /** Static pods, or the Node, may be others than before. */
  wake(): void {
    this.#wakeup.wake()
  }

  /** The API answers: what waits for it need not wait longer. */
  apiAnswers(): void {
    const now = this.#deps.clock.monotonic()
    const waiting = [...this.#troubles].filter(([, { awayMs }]) => awayMs !== undefined)
    if (waiting.length === 0 || !this.#hints.take(now, Math.max(...waiting.map(([, { awayMs = 0 }]) => awayMs)))) return
    for (const [name, trouble] of waiting) this.#troubles.set(name, { ...trouble, retryAt: now })
    this.#wakeup.wake()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    for (;;) {
      if (this.#isListed) await this.#pass(signal)
      await this.#wakeup.wait({ clock, ms: this.#nextCheckMs() }, signal)
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { node, staticPods, allSeen } = this.#deps
    const mirrors = [...this.#mirrors.values()]
    const actions = computeMirrorActions({
      staticPods: staticPods(),
      mirrors,
      allSeen: allSeen(),
      node: toOwner(node()),
    })
    const names = new Set(actions.map(({ fullName }) => fullName))
    for (const name of this.#troubles.keys()) if (!names.has(name)) this.#troubles.delete(name)
    for (const name of this.#absences.keys()) if (!names.has(name)) this.#absences.delete(name)
    for (const action of actions) await this.#apply(action, signal)
  }

  async #apply(action: MirrorAction, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const { fullName } = action
    const now = clock.monotonic()
    if (action.kind === 'create' && (this.#absences.get(fullName) ?? 0) > now) return
    this.#absences.delete(fullName)
    if ((this.#troubles.get(fullName)?.retryAt ?? 0) > now) return
    try {
      if (action.kind === 'delete') await this.#delete(action.mirror, signal)
      else await this.#create(fullName, action.body, signal)
      this.#troubles.delete(fullName)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      this.#noteTrouble(action, error)
    }
  }

  async #delete(mirror: Pod, signal: AbortSignal): Promise<void> {
    const { uid } = mirror.metadata
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } }
    try {
      await this.#deps.client.send({ method: 'DELETE', path: pathOf(mirror.metadata), body }, signal)
    } catch (error) {
      // It is gone, or another one has its name: the watch will show.
      if (!isRefusal(error, 404) && !isRefusal(error, 409)) throw error
    }
    this.#forget(mirror)
  }

  async #create(fullName: string, body: MirrorBody, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps
    const { namespace = '' } = body.metadata
    const path = `/api/v1/namespaces/${namespace}/pods`
    let made: unknown
    try {
      made = await client.send({ method: 'POST', path, body }, signal)
    } catch (error) {
      if (!isRefusal(error, 409)) throw error
      // Made by an earlier agent, or by a request whose answer was lost.
      made = await client.send({ method: 'GET', path: pathOf(body.metadata) }, signal)
    }
    const { pod } = decodeApiPod(made)
    const hash = (metadata: MirrorBody['metadata']) => metadata.annotations?.[CONFIG_MIRROR_ANNOTATION]
    if (hash(pod.metadata) === undefined) throw new Error(`Cannot mirror "${fullName}": another pod has its name`)
    // The watch reports it too, only later.
    this.#mirrors = new Map([...this.#mirrors, [fullName, pod]])
    if (hash(pod.metadata) !== hash(body.metadata)) this.#wakeup.wake()
  }

  #forget(mirror: Pod): void {
    const fullName = podFullName(mirror)
    if (this.#mirrors.get(fullName)?.metadata.uid !== mirror.metadata.uid) return
    this.#mirrors = new Map([...this.#mirrors].filter(([name]) => name !== fullName))
    this.#noteAbsence(fullName)
    this.#wakeup.wake()
  }

  #noteAbsence(fullName: string): void {
    this.#absences.set(fullName, this.#deps.clock.monotonic() + ABSENCE_MS)
  }

  #noteTrouble({ kind, fullName }: MirrorAction, error: unknown): void {
    const { clock, random, log } = this.#deps
    const before = this.#troubles.get(fullName)
    const failures = (before?.failures ?? 0) + 1
    const ms = computeBackOff(RETRIES, failures, random())
    const message = errorMessage(error)
    const awayMs = isApiAway(error) ? ms : undefined
    this.#troubles.set(fullName, { failures, retryAt: clock.monotonic() + ms, message, awayMs })
    if (before?.message !== message) log.warn(`cannot ${kind} a mirror pod, will try again`, { pod: fullName, error })
  }

  #nextCheckMs(): number {
    const now = this.#deps.clock.monotonic()
    const times = [...[...this.#troubles.values()].map(({ retryAt }) => retryAt), ...this.#absences.values()]
    const due = times.map((at) => Math.max(0, at - now))
    return Math.min(CHECK_MS, ...due)
  }
}

function pathOf({ namespace = '', name = '' }: MirrorBody['metadata']): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`
}

function isRefusal(error: unknown, code: number): boolean {
  return error instanceof KubeApiError && error.code === code
}

/** The owner of mirror pods; undefined while there is no Node object, or while it is deleted. */
function toOwner(node: Node | undefined): MirrorInput['node'] {
  const { name, uid, deletionTimestamp } = node?.metadata ?? {}
  return name === undefined || uid === undefined || deletionTimestamp !== undefined ? undefined : { name, uid }
}

import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import { isApiAway } from '../../protocols/kube-api/is-api-away.ts'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import { HintLimit } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { KnownPodObjects } from './known-pod-objects.ts'
import type { PodReport } from './pod-report.ts'
import { createReportMemory, reportPodStatus } from './report-pod-status.ts'
import type { ReportMemory, ReportResult } from './report-pod-status.ts'

export interface StatusWriterDeps {
  readonly client: Pick<KubeClient, 'send'>
  /** What is true of a pod now; undefined when it is no longer desired. */
  readonly report: (uid: PodUid) => PodReport | undefined
  /** A pod of the API to a Pod; throws when it is none. */
  readonly decode: (object: unknown) => Pod
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  /** A status has reached the API, so many seconds after it first was another. */
  readonly onReported?: (seconds: number) => void
}

interface Entry extends ReportMemory {
  /** On the monotonic clock: when there first was something new to report; undefined when all is reported. */
  newSince: number | undefined
  /** On the monotonic clock: not before then. */
  notBefore: number
  reportedAt: number
  rejections: number
  problem: string | undefined
}

// The client's rate limit is what bounds requests; this bounds what waits for answers.
const PARALLEL_WRITES = 8
// Another writer of our status is overruled, but not in an endless duel.
const REPAIR_PAUSE_MS = 10_000
const RETRIES = { firstMs: 1000, longestMs: 10_000, jitter: { least: 1, extra: 0.5 } }
const FIRST_REJECTION_PAUSE_MS = 10_000
const LONGEST_REJECTION_PAUSE_MS = 300_000
const LONGEST_RETRY_AFTER_MS = 300_000

/**
 * Reports the status of each pod to the API, as soon as it changes and the last report was taken: one request at a time for each pod, several
 * pods at once. What waits is only which pods to report, and the newest status is read when it is sent: however long the API is away, nothing is
 * lost and nothing piles up.
 */
export class StatusWriter {
  readonly #deps: StatusWriterDeps
  readonly #objects = new KnownPodObjects()
  readonly #wakeup = new Wakeup()
  readonly #entries = new Map<PodUid, Entry>()
  readonly #waiting = new Set<PodUid>()
  readonly #underWay = new Set<PodUid>()
  #failures = 0
  #pausedUntil = 0
  readonly #hints = new HintLimit()
  /** How long it waits for an API that is away; undefined for one that asked to be left alone. */
  #awayMs: number | undefined

  constructor(deps: StatusWriterDeps) {
    this.#deps = deps
  }

  /** How many pods something is remembered of. */
  get size(): number {
    return this.#entries.size
  }

  /** How many pods wait for their turn or for an answer. */
  get pending(): number {
    return this.#waiting.size + this.#underWay.size
  }

  /** The complete set of what the API has for this node: pods and mirror pods, with their versions. */
  see(objects: readonly Pod[]): void {
    for (const uid of this.#objects.see(objects)) this.wake(uid)
  }

  /** Something about this pod may be new. */
  wake(uid: PodUid): void {
    this.#waiting.add(uid)
    this.#entries.getOrInsertComputed(uid, createEntry).newSince ??= this.#deps.clock.monotonic()
    this.#wakeup.wake()
  }

  /** The API answers: what waits for it need not wait longer. */
  apiAnswers(): void {
    const now = this.#deps.clock.monotonic()
    if (this.#failures === 0 || now >= this.#pausedUntil || this.#awayMs === undefined) return
    if (!this.#hints.take(now, this.#awayMs)) return
    this.#pausedUntil = now
    this.#wakeup.wake()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    await using group = new TaskGroup(signal)
    for (;;) {
      this.#startDue(group)
      await this.#wakeup.wait({ clock, ms: this.#nextDueMs() }, group.signal)
    }
  }

  #startDue(group: TaskGroup): void {
    const now = this.#deps.clock.monotonic()
    if (now < this.#pausedUntil) return
    // After a failure one asks for all whether the API is back.
    const places = this.#failures > 0 ? 1 : PARALLEL_WRITES
    for (const uid of this.#waiting) {
      if (this.#underWay.size >= places) return
      if (this.#underWay.has(uid) || (this.#entries.get(uid)?.notBefore ?? 0) > now) continue
      this.#waiting.delete(uid)
      this.#underWay.add(uid)
      group.run(`status of ${uid}`, async (signal) => {
        try {
          await this.#write(uid, signal)
        } finally {
          this.#underWay.delete(uid)
          this.#wakeup.wake()
        }
      })
    }
  }

  #nextDueMs(): number | undefined {
    const now = this.#deps.clock.monotonic()
    if (this.#waiting.size === 0) return undefined
    if (this.#pausedUntil > now) return this.#pausedUntil - now
    const due = [...this.#waiting].flatMap((uid) => {
      const { notBefore = 0 } = this.#entries.get(uid) ?? {}
      return this.#underWay.has(uid) || notBefore <= now ? [] : [notBefore - now]
    })
    return due.length === 0 ? undefined : Math.min(...due)
  }

  async #write(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { client, clock, decode } = this.#deps
    const report = this.#deps.report(uid)
    if (report === undefined) {
      this.#entries.delete(uid)
      return
    }
    const entry = this.#entries.getOrInsertComputed(uid, createEntry)
    const mayRepair = clock.monotonic() >= entry.reportedAt + REPAIR_PAUSE_MS
    try {
      const deps = { client, decode, objects: this.#objects }
      const result = await reportPodStatus(deps, { report, memory: entry, mayRepair }, signal)
      this.#settle(uid, entry, result)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      this.#fail({ uid, report, entry, error })
    }
  }

  #settle(uid: PodUid, entry: Entry, result: ReportResult): void {
    const { clock, log, onReported } = this.#deps
    const now = clock.monotonic()
    if (result === 'repair' || result === 'stale' || result === 'missing') {
      if (result === 'repair') entry.notBefore = entry.reportedAt + REPAIR_PAUSE_MS
      // Most often the watch is about to report that it is gone.
      else if (result === 'missing') this.#holdBack(entry, FIRST_REJECTION_PAUSE_MS)
      // One that is stale again and again has a rival who never rests.
      else this.#holdBack(entry, entry.rejections === 0 ? 0 : RETRIES.firstMs)
      this.#waiting.add(uid)
      return
    }
    if (result === 'reported') {
      if (this.#failures > 0) log.info('statuses of pods reach the API again', { pods: this.pending })
      this.#failures = 0
      entry.reportedAt = now
      onReported?.((now - (entry.newSince ?? now)) / 1000)
    }
    entry.newSince = undefined
    entry.rejections = 0
    entry.problem = undefined
  }

  #fail({ uid, report, entry, error }: { uid: PodUid; report: PodReport; entry: Entry; error: unknown }): void {
    const { clock, random, log } = this.#deps
    this.#waiting.add(uid)
    if (isTroubleOfAll(error)) {
      if (this.#failures === 0) log.warn('cannot report the status of pods to the API, will try again', { error })
      this.#failures += 1
      const ms = computeBackOff(RETRIES, this.#failures, random())
      this.#awayMs = isApiAway(error) && retryAfterMs(error) === 0 ? ms : undefined
      this.#pausedUntil = clock.monotonic() + Math.max(ms, retryAfterMs(error))
      return
    }
    this.#holdBack(entry, FIRST_REJECTION_PAUSE_MS)
    const problem = errorMessage(error)
    if (problem === entry.problem) return
    entry.problem = problem
    log.warn('the API rejects the status of a pod, will try again', { pod: podLogName(report.pod), uid, error })
  }

  #holdBack(entry: Entry, firstMs: number): void {
    entry.rejections += 1
    const ms = computeBackOff({ firstMs, longestMs: LONGEST_REJECTION_PAUSE_MS }, entry.rejections)
    entry.notBefore = this.#deps.clock.monotonic() + ms
  }
}

function createEntry(): Entry {
  return {
    ...createReportMemory(),
    newSince: undefined,
    notBefore: 0,
    reportedAt: -REPAIR_PAUSE_MS,
    rejections: 0,
    problem: undefined,
  }
}

/** Neither this pod nor any other could be reported now. */
function isTroubleOfAll(error: unknown): boolean {
  return isApiAway(error) || (error instanceof KubeApiError && (error.code === 401 || error.code === 429))
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof KubeApiError ? (error.retryAfterSeconds ?? 0) : 0
  return Math.min(LONGEST_RETRY_AFTER_MS, seconds * 1000)
}

import { DeadlineError } from '../../../base/async/abort-errors.ts'
import { AbortScope } from '../../../base/async/abort-scope.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { Status } from '../../../model/generated/core-v1.ts'
import { GarbledAnswerError } from '../garbled-answer-error.ts'
import { KubeApiError } from '../kube-client.ts'
import type { KubeClient, WatchEvent } from '../kube-client.ts'
import { statusToError } from '../to-api-error.ts'
import type { KubeObject, ObjectEvent } from './kube-object.ts'

export interface WatchRun<T> {
  readonly client: Pick<KubeClient, 'watch'>
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** The watch ends by itself after so long. */
  readonly seconds: number
  readonly clock: Clock
  readonly onEvent: (event: ObjectEvent<T>) => void
}

/** How a watch ended, and how far it came. */
export interface WatchEnd {
  readonly version: string
  /** Undefined: its time was over. */
  readonly error: unknown
  /** What was missed is not known: everything has to be read again. */
  readonly isLost: boolean
  /** It was of use: it reported a change, or that there was none. */
  readonly wasUseful: boolean
}

// What the server says about every minute, it has forgotten to say after this.
const BOOKMARK_SILENCE_MS = 180_000
const PATIENCE_MS = 30_000
// A watch that says nothing and ends at once is no watch.
const SHORTEST_MS = 1000

/** Follows one watch from a version on to its end. Fails only with what the signal or onEvent says. */
export async function followWatch<T extends KubeObject>(
  run: WatchRun<T>,
  from: string,
  signal: AbortSignal,
): Promise<WatchEnd> {
  using scope = new AbortScope(signal)
  const watch = new FollowedWatch(run, from, scope)
  const query = {
    ...run.query,
    resourceVersion: from,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(run.seconds),
  }
  const events = run.client.watch({ path: run.path, query }, scope.signal)[Symbol.asyncIterator]()
  // Ends with the scope.
  watch.endWhenSilent().catch(() => {})
  for (;;) {
    const next = await settle(events.next())
    if (signal.aborted) throw signal.reason
    if ('error' in next) return watch.end(next.error, isLoss(next.error))
    if (next.value.done === true) return watch.endOfTime()
    const problem = watch.take(next.value.value)
    if (problem === undefined) continue
    await events.return?.()
    return watch.end(problem, true)
  }
}

class FollowedWatch<T extends KubeObject> {
  readonly #run: WatchRun<T>
  readonly #scope: AbortScope
  readonly #beganAt: number
  version: string
  #lastEventAt: number
  #wasUseful = false
  #hasBookmarks = false

  constructor(run: WatchRun<T>, version: string, scope: AbortScope) {
    this.#run = run
    this.#scope = scope
    this.version = version
    this.#beganAt = run.clock.monotonic()
    this.#lastEventAt = this.#beganAt
  }

  /** Takes one event; what is returned makes the rest worthless. */
  take({ type, object }: WatchEvent): Error | undefined {
    const { path, clock, onEvent } = this.#run
    this.#lastEventAt = clock.monotonic()
    if (type === 'ERROR') return statusToError(object as Status, { what: `watch "${path}"`, code: 500 })
    const version = (object as T).metadata?.resourceVersion
    if (typeof version !== 'string' || version === '') {
      return new GarbledAnswerError(`Cannot watch "${path}": an object of type ${type} has no version`)
    }
    if (type === 'BOOKMARK') {
      this.#wasUseful = true
      this.#hasBookmarks = true
      if (isNewerVersion(version, this.version)) this.version = version
      return undefined
    }
    if (!isNewerVersion(version, this.version)) {
      return new GarbledAnswerError(`Cannot watch "${path}": version ${version} came after ${this.version}`)
    }
    this.version = version
    this.#wasUseful = true
    onEvent({ type, object: object as T })
    return undefined
  }

  end(error: unknown, isLost: boolean): WatchEnd {
    return { version: this.version, error, isLost, wasUseful: this.#wasUseful }
  }

  endOfTime(): WatchEnd {
    const isShort = !this.#wasUseful && this.#run.clock.monotonic() - this.#beganAt < SHORTEST_MS
    const error = isShort ? new Error(`Cannot watch "${this.#run.path}": it ended at once, without a word`) : undefined
    return this.end(error, false)
  }

  async endWhenSilent(): Promise<void> {
    const { clock, seconds } = this.#run
    const { signal } = this.#scope
    for (;;) {
      const longestMs = seconds * 1000 + PATIENCE_MS
      const limitMs = this.#hasBookmarks ? Math.min(BOOKMARK_SILENCE_MS, longestMs) : longestMs
      const leftMs = this.#lastEventAt + limitMs - clock.monotonic()
      if (leftMs <= 0) break
      await clock.sleep(Math.min(leftMs, BOOKMARK_SILENCE_MS), signal)
    }
    this.#scope.abort(new DeadlineError(`Cannot watch "${this.#run.path}": nothing was heard for too long`))
  }
}

/** A server that is away or busy knows later what came in between. One that was set back (504) does not know the version at all. */
function isLoss(error: unknown): boolean {
  if (error instanceof KubeApiError) return error.code !== 429 && error.code !== 503
  return error instanceof GarbledAnswerError
}

async function settle<T>(work: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await work }
  } catch (error) {
    return { error }
  }
}

const NUMBER = /^[1-9]\d*$/

/** Whether a version comes after another one. Those that are no numbers can only be compared for equality. */
function isNewerVersion(reported: string, known: string): boolean {
  if (!NUMBER.test(reported) || !NUMBER.test(known)) return reported !== known
  return reported.length === known.length ? reported > known : reported.length > known.length
}

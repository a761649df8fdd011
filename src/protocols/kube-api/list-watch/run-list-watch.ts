import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { GarbledAnswerError } from '../garbled-answer-error.ts'
import { isApiAway } from '../is-api-away.ts'
import { KubeApiError } from '../kube-client.ts'
import type { KubeClient } from '../kube-client.ts'
import { BrokenConnectionError } from '../transport/transport.ts'
import type { ApiReturn } from './api-return.ts'
import { computeReconnectDelay } from './compute-reconnect-delay.ts'
import type { Breaks } from './compute-reconnect-delay.ts'
import { followWatch } from './follow-watch.ts'
import type { KubeObject, ObjectEvent } from './kube-object.ts'
import { readList } from './read-list.ts'

export interface ListWatchDeps<T extends KubeObject> {
  readonly client: KubeClient
  /** Of the collection, as in "/api/v1/services". */
  readonly path: string
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>
  /** The first list shows what is true now, not what some API server has in its memory. */
  readonly fresh?: boolean
  /** A watch ends after one to two times this; five minutes if unset. */
  readonly watchSeconds?: number
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  /** Shared by all who follow the same API. */
  readonly apiReturn?: ApiReturn
  /** Everything there is, in place of all that was reported before. What these throw ends the run. */
  readonly onReplace: (items: readonly T[], version: string) => void
  /** One change after another, none missing and none twice. */
  readonly onEvent: (event: ObjectEvent<T>) => void
  /** Something broke and is started again after a while. */
  readonly onProblem?: (error: unknown) => void
}

const USUAL_WATCH_SECONDS = 300
/** From the second break in a row on it is more than the usual end of a connection. */
const BREAKS_WORTH_A_LINE = 2

/** Follows the objects of a collection until the signal aborts: a list, then every change, however often the connection breaks. */
export async function runListWatch<T extends KubeObject>(deps: ListWatchDeps<T>, signal: AbortSignal): Promise<never> {
  const run = new ListWatch(deps)
  for (;;) {
    signal.throwIfAborted()
    await (run.isListed ? run.watch(signal) : run.list(signal))
  }
}

class ListWatch<T extends KubeObject> {
  readonly #deps: ListWatchDeps<T>
  readonly #pauses: ReturnType<ApiReturn['pauses']> | undefined
  #version: string | undefined
  #wasListed = false
  #breaks: Breaks | undefined
  /** The last loss was not waited for. */
  #wasHasty = false

  constructor(deps: ListWatchDeps<T>) {
    this.#deps = deps
    this.#pauses = deps.apiReturn?.pauses()
  }

  get isListed(): boolean {
    return this.#version !== undefined
  }

  async list(signal: AbortSignal): Promise<void> {
    const { client, path, query = {}, fresh = false, onReplace } = this.#deps
    // Never back to an older state than was reported already, which the memory of another API server may have.
    const version = fresh || this.#wasListed ? '' : '0'
    let list
    try {
      list = await readList<T>({ client, path, query, version }, signal)
    } catch (error) {
      return await this.#pause(error, signal)
    }
    onReplace(list.items, list.version)
    this.#version = list.version
    this.#wasListed = true
  }

  async watch(signal: AbortSignal): Promise<void> {
    const { query = {}, watchSeconds = USUAL_WATCH_SECONDS, random } = this.#deps
    const seconds = Math.round(watchSeconds * (1 + random()))
    const end = await followWatch<T>({ ...this.#deps, query, seconds }, this.#version ?? '', signal)
    this.#version = end.isLost ? undefined : end.version
    // Behind a poor connection each watch that is made again is worth it; a list for each would be too much for a confused server.
    if (end.wasUseful && !end.isLost) this.#breaks = undefined
    if (end.error === undefined) return
    // The server is there, and only a list helps: a caller that waited through its outage waits no more. Only once, so that a confused server does not get a list after each watch.
    const isHasty = !this.#wasHasty && isHistoryGone(end.error)
    this.#wasHasty = isHasty
    if (isHasty) this.#deps.onProblem?.(end.error)
    else await this.#pause(end.error, signal)
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw signal.reason
    const { clock, random, log, path, onProblem } = this.#deps
    const { breaks, delayMs } = computeReconnectDelay(this.#breaks, clock.monotonic(), random())
    this.#breaks = breaks
    const fields = { path, breaks: breaks.count, delayMs: Math.round(delayMs), error }
    const isWorthALine =
      (breaks.count === BREAKS_WORTH_A_LINE && !isUnreached(error)) || error instanceof GarbledAnswerError
    if (isWorthALine) log.warn('following the API server broke, starting it again', fields)
    else log.debug('following the API server broke, starting it again', fields)
    onProblem?.(error)
    // A server that rejected us is left in peace, whatever it answers to others.
    if (this.#pauses !== undefined && isApiAway(error)) await this.#pauses.wait({ clock, ms: delayMs }, signal)
    else await clock.sleep(delayMs, signal)
  }
}

/** The connections themselves say that, once for all who follow something. */
function isUnreached(error: unknown): boolean {
  return error instanceof BrokenConnectionError && error.stage === 'connecting'
}

/** Gone (410), or of a server that was set back and does not know the version yet (504). */
function isHistoryGone(error: unknown): boolean {
  return error instanceof KubeApiError && (error.code === 410 || error.code === 504)
}

import { isDeepStrictEqual } from 'node:util'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import type { ObjectMeta } from '../../model/generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { ObjectError } from './object-api.ts'

interface Watchable {
  readonly metadata?: ObjectMeta | undefined
  readonly immutable?: boolean | undefined
}

export interface WatchedObjectDeps<T> {
  readonly watch: (onObject: (object: T | undefined) => void, signal: AbortSignal) => Promise<never>
  /** As in "configmap". */
  readonly resource: string
  readonly onChange: () => void
  /** A watch whose object is not read for so long ends. */
  readonly idleMs: number
  readonly tasks: Pick<TaskGroup, 'run' | 'signal'>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** How long a reader waits for the first word of a watch. */
const FIRST_WORD_MS = 1000
const RETRIES = { firstMs: 800, longestMs: 30_000, jitter: { least: 0.5, extra: 0.5 } }
/** From the second failure in a row on it is more than the usual end of a connection. */
const FAILURES_WORTH_A_LINE = 2

/**
 * One object and the watch over it. What was reported last stays readable while the connection is broken. An object that is immutable is not
 * watched any longer, one that is not read until it is.
 */
export class WatchedObject<T extends Watchable> {
  readonly #deps: WatchedObjectDeps<T>
  #known: { readonly object: T | undefined } | undefined
  #watch:
    | { readonly scope: AbortScope; readonly reported: PromiseWithResolvers<void>; hasReported: boolean }
    | undefined
  #lastReadAt = 0
  /** A reader went away without an answer. */
  #awaited = false
  #lastFailure: unknown

  constructor(deps: WatchedObjectDeps<T>) {
    this.#deps = deps
  }

  /** A new pod must not get what was known before it was made, by a watch that has ended meanwhile. */
  begin(): void {
    if (this.#watch === undefined && !this.#isFinal) this.#known = undefined
    this.#ensureWatch()
  }

  end(): void {
    this.#watch?.scope.abort(new Error('Watch ended'))
    this.#watch = undefined
  }

  /** Undefined for an object that does not exist. */
  async read(signal: AbortSignal): Promise<T | undefined> {
    this.#ensureWatch()
    const watch = this.#watch
    if (watch !== undefined && !watch.hasReported) {
      using scope = new AbortScope(signal)
      await Promise.race([watch.reported.promise, this.#deps.clock.sleep(FIRST_WORD_MS, scope.signal)])
    }
    if (this.#known !== undefined) return this.#known.object
    this.#awaited = true
    throw new ObjectError(
      'Unavailable',
      `failed to sync ${this.#deps.resource} cache: timed out waiting for the condition`,
      { cause: this.#lastFailure },
    )
  }

  get #isFinal(): boolean {
    return this.#known?.object?.immutable === true
  }

  #ensureWatch(): void {
    this.#lastReadAt = this.#deps.clock.monotonic()
    if (this.#watch !== undefined || this.#isFinal) return
    const { tasks } = this.#deps
    const watch = { scope: new AbortScope(tasks.signal), reported: Promise.withResolvers<void>(), hasReported: false }
    this.#watch = watch
    tasks.run(`watch of a ${this.#deps.resource}`, async () => {
      using scope = watch.scope
      await Promise.all([this.#follow(scope.signal), this.#endWhenIdle(scope.signal)])
    })
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { watch, resource, clock, random, log } = this.#deps
    for (let failures = 0; !signal.aborted;) {
      let reported = false
      try {
        await watch((object) => {
          if (signal.aborted) return
          reported = true
          this.#report(object)
        }, signal)
      } catch (error) {
        if (signal.aborted) return
        failures = reported ? 1 : failures + 1
        this.#lastFailure = error
        const fields = { resource, failures, error }
        if (failures === FAILURES_WORTH_A_LINE) log.warn('a watch broke again, it is begun again', fields)
        else log.debug('a watch broke, it is begun again', fields)
        await sleepUnlessAborted(clock, computeBackOff(RETRIES, failures, random()), signal)
      }
    }
  }

  async #endWhenIdle(signal: AbortSignal): Promise<void> {
    const { clock, idleMs } = this.#deps
    while (!signal.aborted) {
      const leftMs = this.#lastReadAt + idleMs - clock.monotonic()
      if (leftMs <= 0) return this.end()
      await sleepUnlessAborted(clock, leftMs, signal)
    }
  }

  #report(object: T | undefined): void {
    const before = this.#known
    const isNews = this.#awaited || (before !== undefined && !isSame(before.object, object))
    this.#known = { object }
    this.#awaited = false
    if (this.#watch !== undefined) {
      this.#watch.hasReported = true
      this.#watch.reported.resolve()
    }
    if (this.#isFinal) this.end()
    if (isNews) this.#deps.onChange()
  }
}

async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function isSame(a: Watchable | undefined, b: Watchable | undefined): boolean {
  const [versionA, versionB] = [a?.metadata?.resourceVersion, b?.metadata?.resourceVersion]
  if (versionA !== undefined && versionA === versionB) return a?.metadata?.uid === b?.metadata?.uid
  return isDeepStrictEqual(a, b)
}

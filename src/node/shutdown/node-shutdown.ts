import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { ShutdownMetrics } from '../../metrics/node-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import { computeShutdownGroups } from './compute-shutdown-groups.ts'
import type { ShutdownGroup } from './compute-shutdown-groups.ts'
import { computePeriodsLeft, type ShutdownPeriod, UNHURRIED_PERIODS } from './compute-shutdown-periods.ts'
import { endGroups, type ShutdownPods } from './end-groups.ts'
import { formatShutdownTimes, isInterrupted, isUnfinished, parseShutdownTimes } from './shutdown-state-file.ts'
import type { GroupTime, ShutdownTimes } from './shutdown-state-file.ts'

export interface NodeShutdownDeps {
  readonly pods: ShutdownPods
  /** The lowest priority first; empty: each pod gets its own grace period. */
  readonly periods: readonly ShutdownPeriod[]
  /** Keeps the time of the last shutdown; undefined when there was none. */
  readonly file: { read(): Promise<string | undefined>; write(text: string): Promise<void> }
  /** When the machine was started; undefined when that is not known. */
  readonly bootedAt: number | undefined
  readonly events: NodeEvents
  readonly metrics: ShutdownMetrics
  /** The node is ready or not ready now: its status has to say so at once. */
  readonly onChange: () => void
  /** Where the work runs, so that it goes on when the caller leaves. */
  readonly tasks: Pick<TaskGroup, 'run'>
  readonly clock: Clock
  readonly log: Logger
}

const PROBLEM = 'node is shutting down'
// While the API is away its pods stay unknown, and other pods must not wait for it.
const KNOWN_MS = 30_000
const CHECK_MS = 100
const EVENT = { type: 'Normal', reason: 'Shutdown' } as const

/** How a shutdown began. */
interface Beginning {
  readonly startedAt: number
  readonly isByCommand: boolean
  /** By an earlier agent: its pods are not all known yet. */
  readonly isResumed: boolean
  /** Those whose pods an earlier agent began to end. */
  readonly groups: readonly GroupTime[]
}

interface Ending extends Beginning {
  groups: readonly GroupTime[]
  readonly scope: AbortController
  /** False when it was cancelled. */
  readonly done: Promise<boolean>
  readonly listeners: Set<(line: string) => void>
}

/** Whether the node shuts down, and the end of its pods when it does. The agent itself stays: pods end through it. */
export class NodeShutdown {
  readonly #deps: NodeShutdownDeps
  #ending: Ending | undefined
  /** One that an earlier agent did not finish. */
  #earlier: ShutdownTimes | undefined

  constructor(deps: NodeShutdownDeps) {
    this.#deps = deps
  }

  /** From the beginning of a shutdown until it is cancelled or the agent leaves. */
  get isShuttingDown(): boolean {
    return this.#ending !== undefined
  }

  /** Why the node is not ready. */
  problems(): readonly string[] {
    return this.isShuttingDown ? [PROBLEM] : []
  }

  /** Shows when the last one was, and goes on with it when an agent was killed in the middle. */
  async recall(): Promise<void> {
    const { file, metrics, log } = this.#deps
    try {
      const text = await file.read()
      const times = text === undefined ? undefined : parseShutdownTimes(text)
      if (times === undefined || this.isShuttingDown) return
      metrics.shutdownStarted(toSeconds(times.startedAt))
      if (times.endedAt !== undefined) metrics.shutdownEnded(toSeconds(times.endedAt))
      if (isUnfinished(times, this.#deps.bootedAt)) this.#earlier = times
      if (!isInterrupted(times, this.#deps.bootedAt)) return
      log.warn('the agent ended in the middle of a shutdown of the node, going on with it')
      // The work is a task of its own; no caller waits for its end yet.
      void this.#start({ ...times, isResumed: true }, () => {})
    } catch (error) {
      log.error('cannot read when the last graceful shutdown was', { error })
    }
  }

  /**
   * Ends all pods, in order, and resolves when they have had their time; to false when that was cancelled. A second caller waits for
   * the same end, also after it.
   */
  async begin(who: 'logind' | 'command', say: (line: string) => void = () => {}): Promise<boolean> {
    const isByCommand = who === 'command'
    const earlier = isByCommand ? undefined : this.#earlier
    this.#earlier = undefined
    if (this.#ending === undefined && earlier !== undefined) {
      return await this.#start({ ...earlier, isByCommand, isResumed: true }, say)
    }
    if (this.#ending === undefined) {
      return await this.#start({ startedAt: this.#deps.clock.now(), isByCommand, isResumed: false, groups: [] }, say)
    }
    say('the shutdown has begun already')
    this.#ending.listeners.add(say)
    return await this.#ending.done
  }

  /** The shutdown that an earlier agent did not finish was cancelled since: the next one is another, and starts from the beginning. */
  forgetEarlier(): void {
    this.#earlier = undefined
  }

  /**
   * The node stays: pods that were not reached go on, those of manifests that were run again, new ones are taken. False when there was
   * nothing to cancel. Never fails.
   */
  async cancel(): Promise<boolean> {
    const ending = this.#ending
    if (ending === undefined) return false
    const { pods, events, clock, log, onChange } = this.#deps
    log.info('the shutdown of the node is cancelled')
    events.record({ ...EVENT, message: 'Shutdown manager detected shutdown cancellation' })
    ending.scope.abort(new Error('The shutdown was cancelled'))
    this.#ending = undefined
    onChange()
    pods.runAgain()
    const isDone = await ending.done
    // So that no agent that starts later goes on with it.
    if (!isDone && !this.isShuttingDown) await this.#remember({ ...ending, groups: [], endedAt: clock.now() })
    return true
  }

  async #start(beginning: Beginning, say: (line: string) => void): Promise<boolean> {
    const { events, tasks, log, onChange } = this.#deps
    log.info('the node shuts down')
    events.record({ ...EVENT, message: 'Shutdown manager detected shutdown event' })
    const { promise: done, resolve } = Promise.withResolvers<boolean>()
    const ending: Ending = { ...beginning, scope: new AbortController(), done, listeners: new Set([say]) }
    this.#ending = ending
    onChange()
    tasks.run('shutdown of the node', async (signal) => {
      using scope = new AbortScope(signal)
      ending.scope.signal.addEventListener('abort', () => scope.abort(ending.scope.signal.reason))
      try {
        await this.#endPods(ending, scope.signal)
      } catch (error) {
        if (!ending.scope.signal.aborted) throw error
      } finally {
        resolve(!scope.signal.aborted)
      }
    })
    return await done
  }

  async #endPods(ending: Ending, signal: AbortSignal): Promise<void> {
    const { pods, periods, clock, metrics, log } = this.#deps
    const { startedAt, listeners } = ending
    const say = (line: string) => {
      for (const listener of listeners) listener(line)
    }
    metrics.shutdownStarted(toSeconds(startedAt))
    metrics.shutdownEnded(0)
    await this.#remember({ ...ending, endedAt: undefined })
    if (ending.isResumed) await this.#waitForPods(signal)
    const left = computePeriodsLeft(periods, ending.groups, clock.monotonic())
    const groups = computeShutdownGroups(left.length === 0 ? UNHURRIED_PERIODS : left, pods.activePods())
    const onBegin = (group: ShutdownGroup) => this.#rememberGroup(ending, group)
    await endGroups({ pods, clock, log, say, onBegin }, groups, signal)
    const endedAt = clock.now()
    metrics.shutdownEnded(toSeconds(endedAt))
    await this.#remember({ ...ending, groups: [], endedAt })
    log.info('all pods have had their time to end, the node may shut down')
  }

  /** An agent that is killed in the time of a group leaves the next one what is left of it. */
  async #rememberGroup(ending: Ending, { priority, seconds }: ShutdownGroup): Promise<void> {
    if (seconds === undefined || ending.groups.some((group) => group.priority === priority)) return
    ending.groups = [...ending.groups, { priority, endsAt: this.#deps.clock.monotonic() + seconds * 1000 }]
    await this.#remember({ ...ending, endedAt: undefined })
  }

  async #waitForPods(signal: AbortSignal): Promise<void> {
    const { pods, clock, log } = this.#deps
    const end = clock.monotonic() + KNOWN_MS
    while (!pods.areKnown() && clock.monotonic() < end) await clock.sleep(CHECK_MS, signal)
    if (!pods.areKnown()) log.warn('not all pods are known yet, those that are end now')
  }

  async #remember(times: ShutdownTimes): Promise<void> {
    const { file, log } = this.#deps
    try {
      await file.write(formatShutdownTimes(times))
    } catch (error) {
      log.error('cannot note that the node shuts down', { error })
    }
  }
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}

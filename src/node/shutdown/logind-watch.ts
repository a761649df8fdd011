import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { ShutdownLock } from '../../system/machine/hold-shutdown-lock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { LogindAccess } from './create-logind-access.ts'
import { Logind } from './logind.ts'
import type { NodeShutdown } from './node-shutdown.ts'

export interface LogindWatchDeps extends LogindAccess {
  readonly shutdown: Pick<NodeShutdown, 'begin' | 'cancel' | 'forgetEarlier'>
  /** How long all pods together may take. */
  readonly seconds: number
  readonly clock: Clock
  readonly log: Logger
}

const RECONNECT_MS = 1000

/** Learns from logind that the machine shuts down, and delays that until the pods have ended. */
export class LogindWatch {
  readonly #deps: LogindWatchDeps
  readonly #wakeup = new Wakeup()
  /** Outlives the connection: a bus that is lost in the middle of a shutdown must not cut it short. */
  #lock: ShutdownLock | undefined
  /** What logind said last. */
  #shutsDown = false
  #hasWorked = false
  #isReported = false

  constructor(deps: LogindWatchDeps) {
    this.#deps = deps
  }

  /**
   * Runs until the signal aborts. A failure at the start is reported and not retried, since the machine may have no logind.
   * A connection that is lost later is made again.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    try {
      for (;;) {
        const problem = await this.#watch(signal).catch((error: unknown) => error)
        signal.throwIfAborted()
        if (!this.#hasWorked) {
          log.error('cannot watch logind for shutdowns, only those by command are graceful', { error: problem })
          return
        }
        if (!this.#isReported)
          log.warn('lost the connection to logind, which announces shutdowns, trying again', { error: problem })
        this.#isReported = true
        await clock.sleep(RECONNECT_MS, signal)
      }
    } finally {
      this.#release()
    }
  }

  /** Fails when the connection or the lock is lost. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { connect, seconds, log } = this.#deps
    using bus = await connect(signal)
    const logind = new Logind({ ...this.#deps, bus })
    await logind.ensureDelay(seconds, signal)
    // Before the first shutdown can be announced.
    if (!this.#shutsDown) await this.#hold(signal)
    let hasSignalled = false
    await logind.onShutdown((begins) => {
      hasSignalled = true
      this.#update(begins)
    }, signal)
    const isShuttingDown = await logind.isShuttingDown(signal)
    // A signal that arrived since the question is newer than its answer.
    if (!hasSignalled) this.#update(isShuttingDown)
    if (!isShuttingDown) this.#deps.shutdown.forgetEarlier()
    if (!this.#hasWorked || this.#isReported) log.info('shutdowns are delayed until pods have ended', { seconds })
    this.#hasWorked = true
    this.#isReported = false
    await using group = new TaskGroup(signal)
    group.run('connection', async (s) => {
      throw await waitForShared(bus.closed, s)
    })
    group.run('shutdowns', (s) => this.#follow(s))
    await group.join()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { shutdown, clock } = this.#deps
    let hasEndedPods = false
    for (;;) {
      if (!this.#shutsDown) {
        hasEndedPods = false
        await this.#hold(signal)
      } else if (!hasEndedPods) {
        hasEndedPods = await waitForShared(shutdown.begin('logind'), signal)
        if (hasEndedPods) this.#release()
      }
      await this.#wakeup.wait({ clock, ms: undefined }, signal)
      if (this.#lock?.isLost === true) throw new Error('Lost the lock that delays shutdowns')
    }
  }

  #update(begins: boolean): void {
    if (begins === this.#shutsDown) return
    this.#shutsDown = begins
    // At once: the pods that are left must not end.
    if (!begins) void this.#deps.shutdown.cancel() // Never rejects.
    this.#wakeup.wake()
  }

  async #hold(signal: AbortSignal): Promise<void> {
    if (this.#lock?.isLost === true) this.#release()
    this.#lock ??= await this.#deps.lock(() => this.#wakeup.wake(), signal)
  }

  #release(): void {
    this.#lock?.[Symbol.dispose]()
    this.#lock = undefined
  }
}

import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface SliceWipesDeps {
  /** Deletes the ResourceSlices of this node, of one driver or of all; fails when the API does not do it. */
  readonly deleteSlices: (driver: string | undefined, signal: AbortSignal) => Promise<void>
  /** Waits until the next try, or until the API answers others. */
  readonly pauses: {
    wait(options: { readonly clock: Clock; readonly ms: number }, signal: AbortSignal): Promise<void>
  }
  readonly tasks: Pick<TaskGroup, 'run'>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

// Long enough for a driver to be replaced, short enough that few pods are scheduled here for devices that no driver can prepare.
const GRACE_MS = 30_000
const RETRIES = { firstMs: 1000, longestMs: 300_000, jitter: { least: 1, extra: 0.2 } }
const REPORTED_TRY = 4

/** Deletes the resource slices of drivers that are away for a while: no driver here could prepare their devices. */
export class SliceWipes {
  readonly #deps: SliceWipesDeps
  readonly #pending = new Map<string, AbortController>()

  constructor(deps: SliceWipesDeps) {
    this.#deps = deps
  }

  /** At the start no driver is here, and some may never come back: those that do publish their devices again. */
  begin(): void {
    this.#deps.tasks.run('resource slices of the node', (signal) => this.#wipe(undefined, signal))
  }

  /** The driver is back; what was about to be deleted stays. */
  usable(driver: string): void {
    this.#pending.get(driver)?.abort(new Error('Driver is back'))
    this.#pending.delete(driver)
  }

  /** The driver is away; said again, nothing changes. */
  unusable(driver: string): void {
    if (this.#pending.has(driver)) return
    const back = new AbortController()
    this.#pending.set(driver, back)
    this.#deps.tasks.run(`resource slices of ${driver}`, async (shutdown) => {
      using scope = new AbortScope(shutdown)
      const end = () => scope.abort(back.signal.reason as Error)
      back.signal.addEventListener('abort', end, { once: true })
      try {
        await this.#deps.clock.sleep(GRACE_MS, scope.signal)
        await this.#wipe(driver, scope.signal)
        if (this.#pending.get(driver) === back) this.#pending.delete(driver)
      } catch (error) {
        if (shutdown.aborted) throw shutdown.reason
        if (!back.signal.aborted) throw error
      } finally {
        back.signal.removeEventListener('abort', end)
      }
    })
  }

  async #wipe(driver: string | undefined, signal: AbortSignal): Promise<void> {
    const { deleteSlices, pauses, clock, random, log } = this.#deps
    for (let tries = 1; ; tries += 1) {
      try {
        await deleteSlices(driver, signal)
        log.debug('resource slices of the node are deleted until their driver publishes them again', { driver })
        return
      } catch (error) {
        signal.throwIfAborted()
        // At a start the Node may not be there yet.
        if (tries === REPORTED_TRY)
          log.warn('cannot delete resource slices of the node, will try again', { driver, error })
      }
      await pauses.wait({ clock, ms: computeBackOff(RETRIES, tries, random()) }, signal)
    }
  }
}

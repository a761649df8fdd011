import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { CsiDriverTraits } from '../../protocols/csi/csi-driver-objects.ts'
import type { CsiDriverRegistry } from './csi-driver-registry.ts'
import type { DriverInfo } from './csi-node-object.ts'

export interface CsiAllocatableDeps {
  readonly registry: Pick<CsiDriverRegistry, 'get' | 'names'>
  /** How a driver is to be used; undefined while that is not known. */
  readonly traits: (driver: string) => CsiDriverTraits | undefined
  readonly objects: {
    /** The last answer of the driver; undefined when it is not reported. */
    current(driver: string): DriverInfo | undefined
    install(driver: string, info: DriverInfo, signal: AbortSignal): Promise<void>
  }
  readonly clock: Clock
  readonly log: Logger
}

interface Running {
  readonly seconds: number
  readonly end: AbortController
}

/** Keeps the volume limit of each driver up to date: it may change with what else is attached to the machine. */
export class CsiAllocatable {
  readonly #deps: CsiAllocatableDeps
  readonly #running = new Map<string, Running>()
  readonly #wakeup = new Wakeup()

  constructor(deps: CsiAllocatableDeps) {
    this.#deps = deps
  }

  /** A driver or its object came, changed or went. */
  wake(): void {
    this.#wakeup.wake()
  }

  /** Asks the driver now: it could not attach one more volume. */
  async refresh(driver: string, signal: AbortSignal): Promise<void> {
    const { registry, objects } = this.#deps
    const info = await registry.get(driver)?.readInfo(signal)
    const current = objects.current(driver)
    if (info === undefined || current === undefined || info.maxVolumes === current.maxVolumes) return
    // The rest of what a driver says of the node holds as long as it is registered.
    await objects.install(driver, { ...current, maxVolumes: info.maxVolumes }, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    await using group = new TaskGroup(signal)
    for (;;) {
      await this.#wakeup.wait({ clock: this.#deps.clock, ms: undefined }, group.signal)
      this.#follow(group)
    }
  }

  #follow(group: TaskGroup): void {
    const { registry, traits } = this.#deps
    const wanted = new Map(
      registry.names().flatMap((name) => {
        const seconds = traits(name)?.allocatableUpdateSeconds
        return seconds === undefined ? [] : [[name, seconds]]
      }),
    )
    for (const [name, { seconds, end }] of this.#running) {
      if (wanted.get(name) === seconds) continue
      this.#running.delete(name)
      end.abort(new Error(`CSI driver "${name}" is no longer asked for its volume limit`))
    }
    for (const [name, seconds] of wanted) {
      if (this.#running.has(name)) continue
      const end = new AbortController()
      this.#running.set(name, { seconds, end })
      group.run(`volumes of CSI driver ${name}`, (s) => this.#ask({ name, seconds, end: end.signal }, s))
    }
  }

  async #ask(driver: { name: string; seconds: number; end: AbortSignal }, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const { name, seconds, end } = driver
    using scope = new AbortScope(signal)
    const stop = () => scope.abort(end.reason as Error)
    end.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        await clock.sleep(seconds * 1000, scope.signal)
        await this.refresh(name, scope.signal).catch((error: unknown) => {
          if (!scope.signal.aborted) log.warn('cannot learn how many volumes a node can have', { driver: name, error })
        })
      }
    } catch (error) {
      if (!end.aborted) throw error
    }
  }
}

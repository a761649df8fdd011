import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { runConnectionWatch } from '../../protocols/grpc/grpc-connection.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { DRA_VERSIONS, DraPlugin } from './dra-plugin.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import type { DraVersion } from './dra-plugin.ts'

/** A plugin as it presented itself. */
export interface OfferedPlugin {
  readonly name: string
  readonly endpoint: string
  readonly versions: readonly string[]
}

export interface DraDriversDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly tasks: Pick<TaskGroup, 'run'>
  readonly onCall: (call: DriverCall) => void
  /** A driver can be asked now, or no longer. */
  readonly onUsable: (driver: string) => void
  readonly onUnusable: (driver: string) => void
  /** Reads the health of a plugin's devices until the signal aborts; undefined when health is not wanted. */
  readonly watchHealth: ((plugin: DraPlugin, signal: AbortSignal) => Promise<void>) | undefined
}

interface Registered {
  readonly plugin: DraPlugin
  readonly end: AbortController
}

/** The drivers that gave this node a plugin to talk to; each may have several at a time, as while it is replaced by a newer one. */
export class DraDrivers {
  readonly #deps: DraDriversDeps
  /** By driver, the newest last. */
  readonly #registered = new Map<string, readonly Registered[]>()

  constructor(deps: DraDriversDeps) {
    this.#deps = deps
  }

  /** The newest plugin of a driver that is connected, else the newest; undefined when there is none. */
  find(driver: string): DraPlugin | undefined {
    const plugins = (this.#registered.get(driver) ?? []).map(({ plugin }) => plugin)
    return plugins.findLast(({ connected }) => connected) ?? plugins.at(-1)
  }

  /** Takes a plugin into use. It need not be connected yet. */
  async register({ name: driver, endpoint, versions }: OfferedPlugin): Promise<void> {
    const version = chooseVersion(driver, versions)
    const others = this.#registered.get(driver) ?? []
    if (others.some(({ plugin }) => plugin.endpoint === endpoint))
      throw new Error(`Cannot register driver "${driver}": another plugin of it serves at ${endpoint}`)
    const plugin = new DraPlugin(this.#deps, { driver, endpoint, version })
    const end = new AbortController()
    this.#registered.set(driver, [...others, { plugin, end }])
    this.#deps.log.info('driver of claims registered', { driver, endpoint, version, plugins: others.length + 1 })
    this.#deps.tasks.run(`driver ${driver}`, (shutdown) => this.#follow(plugin, end.signal, shutdown))
    this.#report(driver)
  }

  /** The plugin went away; nothing happens when it was not in use. */
  async deregister({ name: driver, endpoint }: Pick<OfferedPlugin, 'name' | 'endpoint'>): Promise<void> {
    const all = this.#registered.get(driver) ?? []
    const gone = all.find(({ plugin }) => plugin.endpoint === endpoint)
    if (gone === undefined) return
    const left = all.filter((each) => each !== gone)
    if (left.length === 0) this.#registered.delete(driver)
    else this.#registered.set(driver, left)
    gone.end.abort(new Error('Plugin is gone'))
    gone.plugin[Symbol.dispose]()
    this.#deps.log.info('driver of claims deregistered', { driver, endpoint, plugins: left.length })
    this.#report(driver)
  }

  async #follow(plugin: DraPlugin, gone: AbortSignal, shutdown: AbortSignal): Promise<void> {
    const { log, watchHealth } = this.#deps
    using scope = new AbortScope(shutdown)
    const end = () => scope.abort(gone.reason as Error)
    gone.addEventListener('abort', end, { once: true })
    if (gone.aborted) end()
    const onChange = (isConnected: boolean) => {
      const { driver, endpoint } = plugin
      log.debug('connection to a driver of claims', { driver, endpoint, isConnected })
      if (!gone.aborted) this.#report(driver)
    }
    try {
      const watches = [runConnectionWatch({ connection: plugin, onChange }, scope.signal)]
      if (watchHealth !== undefined) watches.push(watchHealth(plugin, scope.signal))
      await Promise.all(watches)
    } catch (error) {
      if (shutdown.aborted) throw shutdown.reason
      if (!gone.aborted) throw error
    } finally {
      gone.removeEventListener('abort', end)
      plugin[Symbol.dispose]()
    }
  }

  #report(driver: string): void {
    const isUsable = (this.#registered.get(driver) ?? []).some(({ plugin }) => plugin.connected)
    if (isUsable) this.#deps.onUsable(driver)
    else this.#deps.onUnusable(driver)
  }
}

/** The first that we know, in the order in which the driver offers them. */
function chooseVersion(driver: string, versions: readonly string[]): DraVersion {
  const chosen = versions.find((version): version is DraVersion => DRA_VERSIONS.some((known) => known === version))
  if (chosen !== undefined) return chosen
  const offered = versions.length === 0 ? 'none' : versions.join(', ')
  throw new Error(
    `Cannot register driver "${driver}": it offers ${offered}, expected one of ${DRA_VERSIONS.join(', ')}`,
  )
}

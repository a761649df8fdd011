import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { findSockets } from '../../system/files/find-sockets.ts'
import type { FoundSockets } from '../../system/files/find-sockets.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { DirectoryWatches } from './directory-watches.ts'
import type { PluginHandlers } from './plugin-handler.ts'
import { SocketGoneError } from './socket-gone-error.ts'

export interface PluginRegistrationsDeps {
  readonly directory: string
  readonly handlers: PluginHandlers
  readonly clock: Clock
  readonly log: Logger
}

/** What is known of a socket, as metrics show it. */
export interface PluginState {
  readonly socketPath: string
  readonly isRegistered: boolean
}

interface Known {
  readonly identity: string
  readonly gone: AbortController
  isRegistered: boolean
}

// Watches report every change; this is for directories that cannot be watched.
const CHECK_MS = 60_000
const RETRY_MS = 10_000

/** The plugins whose sockets lie below a directory: each is registered while its socket is there, and by a task of its own. */
export class PluginRegistrations {
  readonly #deps: PluginRegistrationsDeps
  readonly #known = new Map<string, Known>()
  /** What was begun last for a path: the next begins when it has ended. */
  readonly #last = new Map<string, Promise<void>>()
  readonly #wakeup = new Wakeup()
  #wasCut = false

  constructor(deps: PluginRegistrationsDeps) {
    this.#deps = deps
  }

  plugins(): readonly PluginState[] {
    return [...this.#known].map(([socketPath, { isRegistered }]) => ({ socketPath, isRegistered }))
  }

  /** Follows the directory until the signal aborts. Plugins stay registered then: the next agent finds them again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    // A run that failed ended the tasks of all plugins.
    this.#known.clear()
    this.#last.clear()
    await using group = new TaskGroup(signal)
    using watches = new DirectoryWatches({ onChange: () => this.#wakeup.wake(), log })
    for (;;) {
      const ms = await this.#scan(watches, group)
      if (ms > 0) await this.#wakeup.wait({ clock, ms }, group.signal)
      group.signal.throwIfAborted()
    }
  }

  /** Returns the time until the next scan. */
  async #scan(watches: DirectoryWatches, group: TaskGroup): Promise<number> {
    const { directory, log } = this.#deps
    try {
      const found = await findSockets(directory)
      if (found.isCut && !this.#wasCut) log.warn('there is too much in the directory of plugins', { path: directory })
      this.#wasCut = found.isCut
      this.#follow(found.sockets, group)
      // Sockets that came before their directory was watched are found by another scan.
      return watches.follow(found.directories) ? 0 : CHECK_MS
    } catch (error) {
      log.error('cannot scan for plugins, will try again', { path: directory, error })
      return RETRY_MS
    }
  }

  #follow(sockets: FoundSockets['sockets'], group: TaskGroup): void {
    for (const [path, { identity, gone }] of this.#known) {
      if (sockets.get(path) === identity) continue
      this.#known.delete(path)
      gone.abort(new SocketGoneError(`Socket "${path}" is gone`))
    }
    for (const [path, identity] of sockets) if (!this.#known.has(path)) this.#begin(path, identity, group)
  }

  #begin(path: string, identity: string, group: TaskGroup): void {
    const known: Known = { identity, gone: new AbortController(), isRegistered: false }
    this.#known.set(path, known)
    const before = this.#last.get(path)
    group.run(`plugin ${path}`, async (shutdown) => {
      const done = (async () => {
        await before
        // Loaded only where there are plugins.
        const { runPlugin } = await import('./run-plugin.ts')
        const onRegistered = () => void (known.isRegistered = true)
        await runPlugin({ ...this.#deps, onRegistered }, path, { gone: known.gone.signal, shutdown })
      })()
      this.#last.set(path, done)
      await done
      if (this.#last.get(path) === done) this.#last.delete(path)
    })
  }
}

import type { TaskGroup } from '../../base/async/task-group.ts'
import type { CreateStatsDeps } from './create-stats-engine.ts'
import type { StatsEngine } from './stats-engine.ts'

/** What the node and its pods use; loaded when it is first asked for, once for all. */
export class StatsOpener {
  readonly #deps: CreateStatsDeps
  readonly #group: TaskGroup
  #opening: Promise<StatsEngine> | undefined
  #engine: StatsEngine | undefined

  constructor(deps: CreateStatsDeps, group: TaskGroup) {
    this.#deps = deps
    this.#group = group
  }

  /** Undefined until it is first asked for. */
  get opened(): StatsEngine | undefined {
    return this.#engine
  }

  async open(): Promise<StatsEngine> {
    return await (this.#opening ??= this.#create().catch((error: unknown) => {
      // The next one who asks tries again.
      this.#opening = undefined
      throw error
    }))
  }

  async #create(): Promise<StatsEngine> {
    const { createStatsEngine } = await import('./create-stats-engine.ts')
    const engine = createStatsEngine(this.#deps, this.#group.signal)
    this.#engine = engine
    this.#group.runLoop('stats', (s) => engine.run(s))
    return engine
  }
}

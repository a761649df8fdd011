import type { TaskGroup } from '../base/async/task-group.ts'
import type { CreateStatsDeps, Stats } from './create-stats.ts'

/** What the node and its pods use; loaded when somebody wants to know, and once for all. */
export class StatsOpener {
  readonly #deps: CreateStatsDeps
  readonly #group: TaskGroup
  #opening: Promise<Stats> | undefined
  #stats: Stats | undefined

  constructor(deps: CreateStatsDeps, group: TaskGroup) {
    this.#deps = deps
    this.#group = group
  }

  /** Undefined while nobody wanted to know. */
  get opened(): Stats | undefined {
    return this.#stats
  }

  async open(): Promise<Stats> {
    return await (this.#opening ??= this.#create())
  }

  async #create(): Promise<Stats> {
    const { createStats } = await import('./create-stats.ts')
    const stats = createStats(this.#deps, this.#group.signal)
    this.#stats = stats
    this.#group.run('stats', (s) => stats.engine.run(s))
    return stats
  }
}

import { LatePart } from '../../base/async/late-part.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { CreateStatsDeps } from './create-stats-engine.ts'
import type { StatsEngine } from './stats-engine.ts'

/** What the node and its pods use; loaded and measured from when it is first asked for. */
export function createStats(deps: CreateStatsDeps, group: TaskGroup): LatePart<StatsEngine> {
  return new LatePart(async () => {
    const { createStatsEngine } = await import('./create-stats-engine.ts')
    const engine = createStatsEngine(deps, group.signal)
    group.runLoop('stats', (s) => engine.run(s))
    return engine
  })
}

import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { PodWorkers } from '../sync/pod-workers.ts'

export interface DeadContainerDeps {
  readonly settings: {
    readonly flags: Pick<Settings['flags'], 'minimumContainerTtlDuration' | 'maximumDeadContainers'>
  }
  readonly workers: Pick<PodWorkers, 'collectDead'>
  readonly clock: Clock
}

const PERIOD_MS = 60_000

/** Keeps dead containers within the limits of the node, where it has any; what a pod has too many of itself it removes without that. */
export async function runDeadContainerCollection(deps: DeadContainerDeps, signal: AbortSignal): Promise<void> {
  const { minimumContainerTtlDuration: leastMs, maximumDeadContainers: limit } = deps.settings.flags
  if (leastMs <= 0 && limit < 0) return
  for (;;) {
    await deps.clock.sleep(PERIOD_MS, signal)
    deps.workers.collectDead(limit)
  }
}

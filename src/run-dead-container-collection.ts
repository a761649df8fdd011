import type { Clock } from './async/clock.ts'
import type { PodWorkers } from './pods/pod-workers.ts'

const PERIOD_MS = 60_000

/** Keeps dead containers within the limits of the node; what a pod has too many of itself it removes without that. */
export async function runDeadContainerCollection(
  deps: { readonly workers: Pick<PodWorkers, 'collectDead'>; readonly limit: number; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await deps.clock.sleep(PERIOD_MS, signal)
    deps.workers.collectDead(deps.limit)
  }
}

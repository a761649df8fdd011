import type { Clock } from '../../base/async/clock.ts'
import { removeUnknownPods } from './remove-unknown-pods.ts'
import type { RemoveUnknownPodsDeps } from './remove-unknown-pods.ts'

// Each try itself goes on for two minutes before it gives up.
const PAUSE_MS = 60_000

/** Removes what is left of unknown pods, until no volume of one is left: a server that is away comes back some day. */
export async function runLeftoverRemoval(
  deps: RemoveUnknownPodsDeps & { readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  while ((await removeUnknownPods(deps, signal)) > 0) await deps.clock.sleep(PAUSE_MS, signal)
}

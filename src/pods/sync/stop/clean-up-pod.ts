import { podLogDirectory } from '../../containers/log-paths.ts'
import { hasRunningParts } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { VolumesError } from '../../../model/pod/volumes-error.ts'
import { computeLeftovers } from '../decide/compute-leftovers.ts'
import type { PodRuntime } from '../pod-runtime.ts'
import { removeLeftovers } from './remove-leftovers.ts'
import { stopAndRefresh } from './stop-and-refresh.ts'
import { toLeftoverRule } from './to-leftover-rule.ts'
import type { EndingPod } from './stop-and-refresh.ts'

export interface EndedPod extends EndingPod {
  /** Its source still has it. */
  readonly wanted: boolean
  /** On the monotonic clock: until then readers may still come for what is left of it. */
  readonly keepUntil: number
  /** What is left of it may still be read; false when the node needs the room. */
  readonly keepsRemains: boolean
  /** All but what its readers may want went already. */
  readonly isFinished: boolean
  /** Somebody waits for the place: its containers need not reach their age. */
  readonly isAwaited: boolean
  readonly onUnmounted: () => void
}

export type CleanUp =
  | { readonly kind: 'gone' }
  /** Ms: undefined for as long as it takes. Finished: nothing is left but what its readers may want. */
  | {
      readonly kind: 'wait'
      readonly ms: number | undefined
      readonly seen: ObservedPod | undefined
      readonly isFinished: boolean
    }

// Nobody knows what this would need, so it gets the least.
export const ORPHAN_GRACE_SECONDS = 1
const RETRY_MS = 1000

/** Removes what is left of a pod that has ended: one that is still wanted keeps its newest remains, one that is not keeps nothing. */
export async function cleanUpPod(runtime: PodRuntime, ended: EndedPod, shutdown: AbortSignal): Promise<CleanUp> {
  const observed = ended.observed()
  const { uid } = observed
  // A call that had been given up came through after all.
  if (hasRunningParts(observed)) {
    const { seen, retryMs } = await stopAndRefresh(runtime, { ...ended, graceSeconds: ORPHAN_GRACE_SECONDS }, shutdown)
    return { kind: 'wait', ms: retryMs ?? 0, seen, isFinished: false }
  }
  const known = runtime.observer.get(uid)
  if (!(await releaseVolumes(runtime, observed, shutdown)))
    return { kind: 'wait', ms: RETRY_MS, seen: known, isFinished: false }
  ended.onUnmounted()
  if (ended.wanted) {
    const rule = toLeftoverRule(runtime, ended.history)
    const leftovers = ended.keepsRemains ? computeLeftovers(observed, rule) : observed
    await removeLeftovers(runtime, observed, leftovers, shutdown)
    if (!ended.isFinished) await runtime.cgroups.remove(uid)
    return { kind: 'wait', ms: undefined, seen: known, isFinished: true }
  }
  const left = Math.max(
    ended.keepUntil - runtime.clock.monotonic(),
    ended.isAwaited ? 0 : tooYoungMs(runtime, observed),
  )
  if (left > 0) return { kind: 'wait', ms: left, seen: known, isFinished: ended.isFinished }
  return await removeAll(runtime, observed, shutdown)
}

/** How long the youngest container has to stay yet. */
function tooYoungMs({ node, clock }: PodRuntime, { containers }: ObservedPod): number {
  const newest = Math.max(0, ...containers.map(({ createdAt }) => createdAt))
  return newest + node.deadContainerLeastMs - clock.now()
}

/** Nothing runs any more, so nothing needs them. The pod stays until they are gone. */
async function releaseVolumes(
  { volumes, references, noteStep, log }: PodRuntime,
  { uid, namespace, name }: ObservedPod,
  shutdown: AbortSignal,
): Promise<boolean> {
  try {
    await volumes.release({ uid, noteStep }, shutdown)
    references.unregister(uid)
    return true
  } catch (error) {
    if (!(error instanceof VolumesError)) throw error
    log.warn('cannot take the volumes of a pod away, will try again', { pod: `${namespace}/${name}`, uid, error })
    return false
  }
}

async function removeAll(runtime: PodRuntime, observed: ObservedPod, shutdown: AbortSignal): Promise<CleanUp> {
  const { uid, namespace, name } = observed
  await removeLeftovers(runtime, observed, observed, shutdown)
  const seen = await runtime.observer.refresh(uid)
  if (seen !== undefined) {
    runtime.log.warn('runtime still has parts of a removed pod, will try again', { pod: `${namespace}/${name}`, uid })
    return { kind: 'wait', ms: RETRY_MS, seen, isFinished: false }
  }
  await runtime.cgroups.remove(uid)
  const logs = podLogDirectory(runtime.node.podLogsDirectory, { metadata: observed })
  await runtime.files.removePod(uid, name === '' ? undefined : logs)
  return { kind: 'gone' }
}

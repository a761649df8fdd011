import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { isCriticalPod } from '../../../model/pod/critical-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'

const CRITICAL_PRIORITY = 2_000_000_000
// More than any priority: a pod that has its sandbox is finished before the next one is begun.
const BEGUN_BONUS = 1e10
// A container that ended sooner than this will hardly run longer the next time.
const SHORT_RUN_MS = 10_000

/**
 * Who is let through first when many pods want to start: critical pods, then by priority, and what is begun is finished. A container that
 * crashes again and again would never let another pod begin, so it has no such precedence.
 */
export function startPriority(pod: Pod, step: 'sandbox' | 'container' | 'crashing container'): number {
  const priority = Math.max(pod.spec.priority ?? 0, isCriticalPod(pod) ? CRITICAL_PRIORITY : Number.NEGATIVE_INFINITY)
  return step === 'container' ? priority + BEGUN_BONUS : priority
}

/** Did the container end soon after its last start? */
export function isCrashing(observed: ObservedPod, name: string): boolean {
  const last = newestInstance(observed, name)
  return last?.state === 'exited' && last.finishedAt - last.startedAt < SHORT_RUN_MS
}

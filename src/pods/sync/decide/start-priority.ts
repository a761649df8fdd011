import { isCriticalPod } from '../../../model/pod/critical-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'

const CRITICAL_PRIORITY = 2_000_000_000
// More than any priority: a pod that has its sandbox is finished before the next one is begun.
const BEGUN_BONUS = 1e10

/** Who is let through first when many pods want to start: critical pods, then by priority, and what is begun is finished. */
export function startPriority(pod: Pod, step: 'sandbox' | 'container'): number {
  const priority = Math.max(pod.spec.priority ?? 0, isCriticalPod(pod) ? CRITICAL_PRIORITY : Number.NEGATIVE_INFINITY)
  return step === 'container' ? priority + BEGUN_BONUS : priority
}

import { DeadlineError } from '../../../base/async/abort-errors.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import type { PodWorker } from '../pod-worker.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { toSeconds } from '../../../model/text/int64.ts'

export interface EvictPodDeps {
  readonly events: PodEvents
  readonly clock: Clock
}

/** Why the node takes a pod away. */
export interface Eviction {
  readonly reason: string
  readonly message: string
  /** Undefined: as long as the pod asks for. */
  readonly graceSeconds: number | undefined
  /** What the condition DisruptionTarget says; undefined for a pod that broke a rule of its own: no other pod gains by its end. */
  readonly disruption: string | undefined
  /** True: a static pod, which no controller replaces, runs again when the agent next starts. */
  readonly isForNow?: boolean
}

const LEAST_PATIENCE_MS = 10_000
const PATIENCE_PER_SECOND_MS = 1500
const EXCEEDED = {
  type: 'Warning',
  reason: 'ExceededGracePeriod',
  message: 'Container runtime did not kill the pod within specified grace period.',
} as const

/** Takes a pod away for the sake of the node, and resolves when nothing of it runs any more. Fails when that takes far too long. */
export async function evictPod(
  { clock, events }: EvictPodDeps,
  { worker, eviction }: { readonly worker: PodWorker; readonly eviction: Eviction },
  signal: AbortSignal,
): Promise<void> {
  const { reason, message, graceSeconds, disruption, isForNow = false } = eviction
  const { pod, uid } = worker
  if (pod === undefined) return
  const verdict = { phase: 'Failed', reason, message, disruption, yieldsToSuccess: true }
  worker.evict(verdict, { graceSeconds, isForNow })
  const grace = toSeconds(graceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0)
  const ms = Math.max(LEAST_PATIENCE_MS, grace * PATIENCE_PER_SECOND_MS)
  try {
    await withDeadline({ clock, ms, what: `the end of pod "${uid}"` }, (late) => worker.stopped(late), signal)
  } catch (error) {
    if (error instanceof DeadlineError) events.record(pod, EXCEEDED)
    throw error
  }
}

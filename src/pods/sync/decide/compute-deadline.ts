import type { PodStatus } from '../../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { isTerminalPhase } from '../../status/compute-phase.ts'
import type { PhaseOverride } from '../../status/status-input.ts'
import { toSeconds } from '../../../model/text/int64.ts'

const DEADLINE: PhaseOverride = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
}

/** What is known of a pod's start. */
export interface PodStart {
  readonly status: PodStatus | undefined
  readonly observed: Pick<ObservedPod, 'sandboxes'> | undefined
}

/** When a pod has been active for as long as it may, in milliseconds; undefined when it may for ever, or has not begun. */
export function deadlineAt(pod: Pod, start: PodStart): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds
  if (seconds === undefined) return undefined
  const startedAt = findStart(pod, start)
  return startedAt === undefined ? undefined : startedAt + toSeconds(seconds) * 1000
}

/**
 * Without an API an agent reports as the start when it first saw the pod: so that the deadline does not begin again with each agent, it
 * counts from the oldest sandbox that an earlier one made. No other is asked for its time: the runtime may have a clock of its own.
 */
function findStart(pod: Pod, { status, observed }: PodStart): number | undefined {
  const known = pod.status?.startTime
  if (known !== undefined) return Date.parse(known)
  const adopted = observed?.sandboxes.filter(({ isAdopted }) => isAdopted === true) ?? []
  const starts = adopted.map(({ createdAt }) => createdAt)
  if (status?.startTime !== undefined) starts.push(Date.parse(status.startTime))
  return starts.length === 0 ? undefined : Math.min(...starts)
}

/** What becomes of a pod whose deadline has passed, however its containers end; undefined for one that ended before. */
export function computeDeadlineOverride(pod: Pod, start: PodStart, now: number): PhaseOverride | undefined {
  const deadline = deadlineAt(pod, start)
  return deadline !== undefined && now >= deadline && !isTerminalPhase(start.status?.phase) ? DEADLINE : undefined
}

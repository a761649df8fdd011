import type { PodStatus } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { isTerminalPhase } from '../../status/compute-phase.ts'
import type { PhaseOverride } from '../../status/status-input.ts'
import { toSeconds } from '../../../model/text/int64.ts'

const DEADLINE: PhaseOverride = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
}

/** When a pod has been active for as long as it may, in milliseconds; undefined when it may for ever, or has not begun. */
export function deadlineAt({ spec }: Pod, status: PodStatus | undefined): number | undefined {
  const seconds = spec.activeDeadlineSeconds
  const startTime = status?.startTime
  return seconds === undefined || startTime === undefined
    ? undefined
    : Date.parse(startTime) + toSeconds(seconds) * 1000
}

/** What becomes of a pod whose deadline has passed, however its containers end; undefined for one that ended before. */
export function computeDeadlineOverride(
  pod: Pod,
  status: PodStatus | undefined,
  now: number,
): PhaseOverride | undefined {
  const deadline = deadlineAt(pod, status)
  return deadline !== undefined && now >= deadline && !isTerminalPhase(status?.phase) ? DEADLINE : undefined
}

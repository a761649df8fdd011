import type { ContainerStatus } from '../../model/generated/core-v1.ts'
import { LOST_WHEN_TERMINATED, lostState } from './compute-container-statuses.ts'

interface PodContainers {
  readonly init: readonly ContainerStatus[]
  readonly regular: readonly ContainerStatus[]
  /** All init containers had done their work. */
  readonly initialized: boolean
}

/** The last statuses of a pod that has ended: what should have ended and left no trace counts as failed. */
export function computeTerminatedStatuses({
  init,
  regular,
  initialized,
}: PodContainers): Pick<PodContainers, 'init' | 'regular'> {
  // At least the first was due; those after the last one that ever started were not.
  const due = Math.max(1, init.findLastIndex(hasStarted) + 1)
  return {
    init: init.map((status, index) => (index < due ? ended(status) : status)),
    regular: initialized || init.length === 0 ? regular.map(ended) : regular,
  }
}

function hasStarted({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting === undefined || lastState?.terminated !== undefined
}

function ended(status: ContainerStatus): ContainerStatus {
  if (status.state?.terminated !== undefined) return status
  const started = status.started === undefined ? {} : { started: false }
  return { ...status, state: lostState(LOST_WHEN_TERMINATED), ready: false, ...started }
}

import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted of pods that change their size while they run. */
export interface ResizeMetrics {
  resizeRequested(request: {
    readonly resource: string
    readonly requirement: string
    readonly operation: string
  }): void
  resizeInfeasible(detail: string): void
  /** One that had to wait was granted, because of this. */
  deferredResizeAccepted(trigger: string): void
  /** A resize was done, or could not be. */
  resizeActuated(milliseconds: number, success: boolean): void
}

/** Those that wait, by why, and those that are being carried out. */
export interface ResizeCounts {
  readonly pending: ReadonlyMap<string, number>
  readonly inProgress: number
}

const DURATIONS_MS = [10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000]

export function createResizeMetrics(set: MetricSet, counts: () => ResizeCounts): ResizeMetrics {
  const requested = set.counter({
    name: 'kubelet_container_requested_resizes_total',
    help: 'Amounts of containers that were asked to be another, by what was to happen to them.',
    labels: ['resource', 'requirement', 'operation'],
  })
  const infeasible = set.counter({
    name: 'kubelet_pod_infeasible_resizes_total',
    help: 'Resizes that are not possible on this node, by why.',
    labels: ['reason_detail'],
  })
  const accepted = set.counter({
    name: 'kubelet_pod_deferred_accepted_resizes_total',
    help: 'Resizes that were granted after they had to wait, by what made room.',
    labels: ['retry_trigger'],
  })
  const duration = set.histogram({
    name: 'kubelet_pod_resize_duration_milliseconds',
    help: 'How long it took to give a pod what it was granted.',
    labels: ['success'],
    buckets: DURATIONS_MS,
  })
  set.read({ name: 'kubelet_pod_pending_resizes', help: 'Pods whose resize waits, by why.', labels: ['reason'] }, () =>
    [...counts().pending].map(([reason, value]) => ({ labels: { reason }, value })),
  )
  set.readOne(
    { name: 'kubelet_pod_in_progress_resizes', help: 'Pods that are being resized.' },
    () => counts().inProgress,
  )
  return {
    resizeRequested: ({ resource, requirement, operation }) => requested.inc({ resource, requirement, operation }),
    resizeInfeasible: (detail) => infeasible.inc({ reason_detail: detail }),
    deferredResizeAccepted: (trigger) => accepted.inc({ retry_trigger: trigger }),
    resizeActuated: (milliseconds, success) => duration.observe({ success: String(success) }, milliseconds),
  }
}

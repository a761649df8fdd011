import type { ImageMetrics } from '../telemetry/create-image-metrics.ts'
import type { PodLifeMetrics } from '../telemetry/create-pod-metrics.ts'
import type { ResizeMetrics } from '../telemetry/create-resize-metrics.ts'
import type { StartMetrics } from '../telemetry/create-start-metrics.ts'

/** What the workers of pods tell to be counted. */
export type PodMetrics = Omit<StartMetrics, 'podSeen'> &
  Omit<PodLifeMetrics, 'preemption'> &
  Pick<ImageMetrics, 'imageVolume'> &
  Pick<ResizeMetrics, 'resizeActuated'>

import type { ImageMetrics } from '../../metrics/create-image-metrics.ts'
import type { PodLifeMetrics } from '../../metrics/create-pod-metrics.ts'
import type { ResizeMetrics } from '../../metrics/create-resize-metrics.ts'
import type { StartMetrics } from '../../metrics/create-start-metrics.ts'

/** What the workers of pods tell to be counted. */
export type PodMetrics = Omit<StartMetrics, 'podSeen'> &
  Omit<PodLifeMetrics, 'preemption'> &
  Pick<ImageMetrics, 'imageVolume'> &
  Pick<ResizeMetrics, 'resizeActuated'>

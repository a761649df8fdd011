import type { PodMetrics } from '../../src/pods/sync/pod-metrics.ts'

const nothing = () => {}

/** Counts nothing. */
export const uncountedPods: PodMetrics = {
  containerStart: nothing,
  sandboxStart: nothing,
  podStart: nothing,
  podStartKnown: nothing,
  podWorkerPass: nothing,
  podWorkerStart: nothing,
  podRejected: nothing,
  podRestarted: nothing,
  podOrphaned: nothing,
  containerEnded: nothing,
  sleepCutShort: nothing,
  hookFellBack: nothing,
  imageVolume: nothing,
  resizeActuated: nothing,
}

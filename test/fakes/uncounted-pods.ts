import type { PodWorkersDeps } from '../../src/pods/sync/pod-workers.ts'

const nothing = () => {}

/** Counts nothing. */
export const uncountedPods: PodWorkersDeps['podDeps']['metrics'] = {
  containerStart: nothing,
  sandboxStart: nothing,
  ownUsersStartFailed: nothing,
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

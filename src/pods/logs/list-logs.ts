import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { LoggedContainer } from './rotate-log.ts'

/** The logs of all containers that run now. */
export function listLogs(observed: {
  uids(): readonly PodUid[]
  get(uid: PodUid): ObservedPod | undefined
}): LoggedContainer[] {
  return observed.uids().flatMap((uid) => {
    const pod = observed.get(uid)
    const running = pod?.containers.filter(({ state, logPath }) => state === 'running' && logPath !== '') ?? []
    return running.map(({ id, name, logPath }) => ({
      containerId: id,
      logPath,
      pod: `${pod?.namespace}/${pod?.name}`,
      name,
    }))
  })
}

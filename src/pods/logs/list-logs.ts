import { dirname } from 'node:path'
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

/** Where the containers of a pod that run now write their termination messages; undefined for a pod of which the runtime has nothing. */
export function listMessageFolders(pod: ObservedPod | undefined): readonly string[] | undefined {
  const running = pod?.containers.filter(({ state, terminationLog }) => state === 'running' && terminationLog !== '')
  return running?.map(({ terminationLog }) => dirname(terminationLog))
}

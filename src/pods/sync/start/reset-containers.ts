import { dirname } from 'node:path'
import { containerLogSymlink } from '../../containers/log-paths.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { Grace } from '../stop/grace.ts'
import type { ContainerReset } from '../decide/pod-actions.ts'
import type { PodHistory } from '../pod-history.ts'
import { removeContainer } from '../stop/remove-container.ts'
import { stopContainer } from '../stop/stop-container.ts'
import { findPodIp } from '../stop/stop-pod.ts'
import type { RemoveContainerDeps } from '../stop/remove-container.ts'
import type { StopContainerDeps } from '../stop/stop-container.ts'
import type { StopPodDeps } from '../stop/stop-pod.ts'

export type ResetContainersDeps = StopContainerDeps &
  RemoveContainerDeps &
  Pick<StopPodDeps, 'node'> & {
    readonly files: {
      /** Names of the files in a directory; none when it does not exist. */
      listNames(directory: string): Promise<readonly string[]>
      /** Removes a container's log, what was rotated of it, and the link to it. */
      removeLogs(logPath: string, link: string): Promise<void>
    }
  }

export interface ResetRequest {
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly history: PodHistory
  readonly reset: ContainerReset
}

/** Stops and removes every instance of a pod's containers, without hooks; the sandbox stays, and so does the newest log of each. */
export async function resetContainers(
  deps: ResetContainersDeps,
  request: ResetRequest,
  signal: AbortSignal,
): Promise<void> {
  for (const group of request.reset.groups) {
    await Promise.all(group.map((instance) => removeInstance(deps, request, { instance, signal })))
  }
}

async function removeInstance(
  deps: ResetContainersDeps,
  request: ResetRequest,
  { instance, signal }: { readonly instance: ObservedContainer; readonly signal: AbortSignal },
): Promise<void> {
  const { pod, history } = request
  const { id, name, state } = instance
  if (state === 'running' || state === 'unknown') {
    using grace = new Grace({ clock: deps.clock, seconds: 0, among: history.graces })
    const podIp = findPodIp(deps, request)
    const message = `Stopping container ${name}, all containers of the pod are restarted`
    await stopContainer(deps, { pod, container: { id, name }, podIp, grace, message, after: [] }, signal)
  }
  await removeOlderLogs(deps, instance)
  await deps.files.removeLogs('', containerLogSymlink(pod, name, id))
  await removeContainer(deps, { uid: pod.metadata.uid, id }, signal)
  history.waiting.delete(name)
}

/** The newest log gives the next instance its number, and readers the last lines; older ones would fill the disk. */
async function removeOlderLogs(
  { files }: ResetContainersDeps,
  { logPath, restartCount }: ObservedContainer,
): Promise<void> {
  if (logPath === '') return
  const directory = dirname(logPath)
  const numbers = (await files.listNames(directory)).map((name) => Number.parseInt(name, 10))
  for (const number of new Set(numbers)) {
    if (number < restartCount) await files.removeLogs(`${directory}/${number}.log`, '')
  }
}

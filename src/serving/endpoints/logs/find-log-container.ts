import type { ContainerStatus } from '../../../model/generated/core-v1.ts'
import { findContainerStatus, toRuntimeId } from '../pod-view.ts'
import type { PodView } from '../pod-view.ts'

/** There is nothing to show yet, or no more. */
class NoLogError extends Error {
  override readonly name = 'NoLogError'
}

// What people meet most, in words.
const WAITING: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
}

/** The runtime's id of the instance whose log is meant: the running one, else the one that ended last. */
export function findLogContainer(view: PodView, name: string, previous: boolean): string {
  const what = `container "${name}" in pod "${view.pod.metadata.name}"`
  const status = findContainerStatus(view, name)
  if (status === undefined) throw new NoLogError(`${what} is not available`)
  const lastEnded = toRuntimeId(status.lastState?.terminated?.containerID)
  if (previous) {
    if (lastEnded === undefined) throw new NoLogError(`previous terminated ${what} not found`)
    return lastEnded
  }
  const id = currentId(status) ?? lastEnded
  if (id !== undefined) return id
  if (status.state?.terminated !== undefined || status.lastState?.terminated !== undefined)
    throw new NoLogError(`${what} is terminated`)
  const reason = status.state?.waiting?.reason
  if (reason === undefined) throw new NoLogError(`${what} is waiting to start - no logs yet`)
  throw new NoLogError(`${what} is waiting to start: ${WAITING[reason] ?? reason}`)
}

function currentId({ state, containerID }: ContainerStatus): string | undefined {
  if (state?.running !== undefined) return toRuntimeId(containerID)
  return toRuntimeId(state?.terminated?.containerID)
}

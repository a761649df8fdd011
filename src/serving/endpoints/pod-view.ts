import type { ContainerStatus, PodStatus } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** A pod with what is true of it now. */
export interface PodView {
  readonly pod: Pod
  readonly status: PodStatus
}

/** The pod of this name. Where one follows another of the same name, the younger. */
export function findPod(views: readonly PodView[], namespace: string, name: string): PodView | undefined {
  return views.findLast(({ pod }) => pod.metadata.namespace === namespace && pod.metadata.name === name)
}

/** What is true of one container, in whichever list of the spec it stands. */
export function findContainerStatus({ status }: PodView, name: string): ContainerStatus | undefined {
  const lists = [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses]
  return lists.flatMap((list) => list ?? []).find((container) => container.name === name)
}

/** The runtime's own id out of "containerd://ID"; undefined when there is none. */
export function toRuntimeId(containerId: string | undefined): string | undefined {
  const id = containerId?.replace(/^[^/]*:\/\//, '')
  return id === '' ? undefined : id
}

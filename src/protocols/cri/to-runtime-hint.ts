import { TaskDelete, TaskExit, TaskOOM, TaskStart } from './generated/containerd-events.ts'
import { ContainerEventType } from './generated/runtime-v1.ts'
import type { Envelope } from './generated/containerd-events.ts'
import type { ContainerEventResponse } from './generated/runtime-v1.ts'

/**
 * Something happened to a container, or to a sandbox whose id stands in its place. Says what to read again, not what is true now: ContainerStatus
 * shows an exit shortly before `stopped` or some milliseconds after it. `exited` comes from containerd's own events alone: `stopped` is about to follow.
 */
export interface RuntimeHint {
  readonly containerId: string
  readonly kind: 'created' | 'started' | 'exited' | 'stopped' | 'deleted' | 'oom'
}

const KINDS: Readonly<Record<ContainerEventType, RuntimeHint['kind']>> = {
  [ContainerEventType.CONTAINER_CREATED_EVENT]: 'created',
  [ContainerEventType.CONTAINER_STARTED_EVENT]: 'started',
  [ContainerEventType.CONTAINER_STOPPED_EVENT]: 'stopped',
  [ContainerEventType.CONTAINER_DELETED_EVENT]: 'deleted',
}

/** The hint in an event of CRI; undefined for kinds that came after us. */
export function hintFromCri(event: ContainerEventResponse): RuntimeHint | undefined {
  const kind = KINDS[event.containerEventType] as RuntimeHint['kind'] | undefined
  return kind && { containerId: event.containerId, kind }
}

/**
 * Chooses the events that hintFromContainerd() knows. Both exit and delete of a task are wanted: containerd's CRI shows a container
 * as running until it has deleted the task, 10 to 100 ms after the exit, and one that is in trouble deletes it late or never.
 */
export const CONTAINERD_FILTERS: readonly string[] = ['namespace==k8s.io,topic~="^/tasks/(start|exit|oom|delete)$"']

/** The hint in an event of containerd; undefined for the end of an exec, which changes no container. */
export function hintFromContainerd({ topic, event }: Envelope): RuntimeHint | undefined {
  if (event === undefined) return undefined
  switch (topic) {
    case '/tasks/start':
      return { containerId: TaskStart.decode(event.value).containerId, kind: 'started' }
    case '/tasks/oom':
      return { containerId: TaskOOM.decode(event.value).containerId, kind: 'oom' }
    case '/tasks/exit':
      return ended('exited', TaskExit.decode(event.value))
    case '/tasks/delete':
      return ended('stopped', TaskDelete.decode(event.value))
    default:
      return undefined
  }
}

function ended(
  kind: 'exited' | 'stopped',
  process: { readonly containerId: string; readonly id: string },
): RuntimeHint | undefined {
  const isExec = process.id !== '' && process.id !== process.containerId
  return isExec ? undefined : { containerId: process.containerId, kind }
}

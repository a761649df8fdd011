import type { ContainerEventResponse } from '../../protocols/cri/generated/runtime-v1.ts'
import { ContainerEventType } from '../../protocols/cri/generated/runtime-v1.ts'
import { TaskDelete, TaskExit, TaskOOM, TaskStart } from '../../protocols/cri/generated/containerd-events.ts'
import type { Envelope } from '../../protocols/cri/generated/containerd-events.ts'
import type { RuntimeHint } from '../../protocols/cri/to-runtime-hint.ts'

/** The listeners for events of a simulated runtime. */
export class SimulatedEvents {
  readonly #cri = new Set<(event: ContainerEventResponse) => void>()
  readonly #containerd = new Set<(event: Envelope) => void>()

  /** Listens as GetContainerEvents does; returns how to end it. */
  onCri(listener: (event: ContainerEventResponse) => void): () => void {
    this.#cri.add(listener)
    return () => this.#cri.delete(listener)
  }

  /** Listens as containerd's Subscribe does; returns how to end it. */
  onContainerd(listener: (event: Envelope) => void): () => void {
    this.#containerd.add(listener)
    return () => this.#containerd.delete(listener)
  }

  get listeners(): number {
    return this.#cri.size + this.#containerd.size
  }

  emit(containerId: string, kind: RuntimeHint['kind'], exitCode = 0): void {
    const type = CRI_TYPES[kind]
    if (type !== undefined) {
      for (const listener of this.#cri) {
        listener({ containerId, containerEventType: type, createdAt: 0n, containersStatuses: [] })
      }
    }
    for (const event of toEnvelopes(containerId, kind, exitCode)) {
      for (const listener of this.#containerd) listener(event)
    }
  }

  /** The end of an exec: containerd reports it on the container's topic, CRI does not. */
  emitExecExit(containerId: string): void {
    const exit = TaskExit.fromPartial({ containerId, id: `exec-of-${containerId}` })
    for (const listener of this.#containerd) listener(envelope('/tasks/exit', TaskExit.encode(exit).finish()))
  }
}

const CRI_TYPES: Readonly<Record<RuntimeHint['kind'], ContainerEventType | undefined>> = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  exited: undefined,
  stopped: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
  oom: undefined,
}

function toEnvelopes(containerId: string, kind: RuntimeHint['kind'], exitStatus: number): Envelope[] {
  switch (kind) {
    case 'started':
      return [envelope('/tasks/start', TaskStart.encode(TaskStart.fromPartial({ containerId, pid: 1 })).finish())]
    case 'exited': {
      const exit = TaskExit.fromPartial({ containerId, id: containerId, pid: 1, exitStatus })
      return [envelope('/tasks/exit', TaskExit.encode(exit).finish())]
    }
    case 'stopped': {
      const deleted = TaskDelete.fromPartial({ containerId, pid: 1, exitStatus })
      const envelopes = toEnvelopes(containerId, 'exited', exitStatus)
      return [...envelopes, envelope('/tasks/delete', TaskDelete.encode(deleted).finish())]
    }
    case 'oom':
      return [envelope('/tasks/oom', TaskOOM.encode({ containerId }).finish())]
    case 'created':
    case 'deleted':
      return []
  }
}

function envelope(topic: string, value: Uint8Array): Envelope {
  return { namespace: 'k8s.io', topic, event: { typeUrl: '', value } }
}

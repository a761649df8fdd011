import type {
  Container,
  ContainerState,
  ContainerStatus,
  EphemeralContainer,
  VolumeMount,
} from '../model/generated/core-v1.ts'
import type { ObservedContainer } from '../model/observed-pod.ts'
import { isSidecar } from '../model/pod-containers.ts'
import type { ContainerKind } from '../model/pod-containers.ts'
import { mayRestart } from '../model/restart-policy.ts'
import { toApiTime } from './status-input.ts'
import type { StatusInput } from './status-input.ts'

type AnyContainer = Container | EphemeralContainer

// What a container that vanished without leaving an exit code is said to have ended with: as if killed.
const LOST_EXIT_CODE = 137

/** The statuses of one of the three lists of containers. */
export function computeContainerStatuses(
  input: StatusInput,
  kind: ContainerKind,
  containers: readonly AnyContainer[],
): ContainerStatus[] {
  const statuses = containers.map((container) => computeOne(input, kind, container))
  // Regular ones are reported by name; init containers keep their order, which is the order of running.
  return kind === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function computeOne(input: StatusInput, kind: ContainerKind, container: AnyContainer): ContainerStatus {
  const old = previousStatus(input, kind, container.name)
  const [newest, older] = input.observed.containers.filter(({ name }) => name === container.name)
  const status =
    newest === undefined
      ? absentStatus(input, { kind, container, old })
      : presentStatus(input, { kind, container, old, newest, older })
  return withWaitingReason(input, { kind, container, status, newest })
}

function previousStatus(input: StatusInput, kind: ContainerKind, name: string): ContainerStatus | undefined {
  const { previous } = input
  const list = {
    init: previous?.initContainerStatuses,
    regular: previous?.containerStatuses,
    ephemeral: previous?.ephemeralContainerStatuses,
  }[kind]
  return list?.find((status) => status.name === name)
}

interface Absent {
  readonly kind: ContainerKind
  readonly container: AnyContainer
  readonly old: ContainerStatus | undefined
}

/** The runtime knows no instance: not made yet, or lost. */
function absentStatus(input: StatusInput, { kind, container, old }: Absent): ContainerStatus {
  if (old?.state?.terminated !== undefined) return old
  const base: ContainerStatus = {
    name: container.name,
    state: {
      waiting: { reason: (input.pod.spec.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' },
    },
    ready: false,
    ...(kind === 'ephemeral' ? {} : { started: false }),
    restartCount: old?.restartCount ?? 0,
    image: container.image ?? '',
    imageID: '',
    ...lastState(old?.lastState),
    ...volumeMounts(container.volumeMounts),
  }
  if (kind === 'init' && !isSidecar(container) && anyRegularContainerMade(input)) {
    return { ...base, ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } }
  }
  if (old?.state?.running === undefined || old.lastState?.terminated !== undefined) return base
  const message = 'The container could not be located when the pod was deleted.  The container used to be Running'
  return {
    ...base,
    restartCount: base.restartCount + (input.pod.metadata.deletionTimestamp === undefined ? 1 : 0),
    lastState: { terminated: { exitCode: LOST_EXIT_CODE, reason: 'ContainerStatusUnknown', message } },
  }
}

interface Present extends Absent {
  readonly newest: ObservedContainer
  readonly older: ObservedContainer | undefined
}

function presentStatus(input: StatusInput, { kind, container, old, newest, older }: Present): ContainerStatus {
  const lost = newest.state === 'unknown' && old?.state?.running !== undefined
  const started = newest.state === 'running' && (input.started.get(newest.id) ?? true)
  const ready =
    kind === 'init' && !isSidecar(container)
      ? newest.state === 'exited' && newest.exitCode === 0
      : started && (input.ready.get(newest.id) ?? true)
  return {
    name: container.name,
    state: lost ? lostState() : toState(input, newest),
    ...lastState(older === undefined ? (newest.restartCount > 0 ? old?.lastState : undefined) : toState(input, older)),
    ready: kind === 'ephemeral' ? false : ready,
    ...(kind === 'ephemeral'
      ? {}
      : { started: kind === 'init' && !isSidecar(container) ? newest.state === 'running' : started }),
    restartCount: lost ? (old?.restartCount ?? 0) + 1 : newest.restartCount,
    image: newest.image,
    imageID: newest.imageRef,
    containerID: `${input.runtimeName}://${newest.id}`,
    ...(newest.user === undefined ? {} : { user: { linux: newest.user } }),
    ...volumeMounts(container.volumeMounts),
  }
}

function lostState(): ContainerState {
  const message = 'The container could not be located when the pod was terminated'
  return { terminated: { exitCode: LOST_EXIT_CODE, reason: 'ContainerStatusUnknown', message } }
}

function toState(input: StatusInput, instance: ObservedContainer): ContainerState {
  switch (instance.state) {
    case 'running':
      return { running: { startedAt: toApiTime(instance.startedAt) } }
    case 'exited': {
      const message = [instance.message, input.lastWords.get(instance.id) ?? '']
        .filter((text) => text !== '')
        .join(': ')
      return {
        terminated: {
          exitCode: instance.exitCode,
          reason: instance.reason,
          ...(message === '' ? {} : { message }),
          ...(instance.startedAt === 0 ? {} : { startedAt: toApiTime(instance.startedAt) }),
          finishedAt: toApiTime(instance.finishedAt),
          containerID: `${input.runtimeName}://${instance.id}`,
        },
      }
    }
    case 'created':
    case 'unknown':
      return { waiting: {} }
  }
}

interface Restarting {
  readonly kind: ContainerKind
  readonly container: AnyContainer
  readonly status: ContainerStatus
  readonly newest: ObservedContainer | undefined
}

/** A container that should run again and could not yet be started shows why; its end moves to lastState. */
function withWaitingReason(input: StatusInput, { kind, container, status, newest }: Restarting): ContainerStatus {
  const waiting = input.waiting.get(container.name)
  if (waiting === undefined || newest?.state === 'running' || input.ended) return status
  const exitedWell = newest?.state === 'exited' && newest.exitCode === 0
  if (kind === 'init' && exitedWell) return status
  if (kind === 'regular' && newest?.state === 'exited' && !mayRestart(input.pod, container, newest.exitCode))
    return status
  const ended = status.state?.terminated
  return {
    ...status,
    state: { waiting: { reason: waiting.reason, ...(waiting.message === '' ? {} : { message: waiting.message }) } },
    ...(ended === undefined ? {} : { lastState: { terminated: ended } }),
  }
}

function anyRegularContainerMade(input: StatusInput): boolean {
  return input.pod.spec.containers.some(({ name }) =>
    input.observed.containers.some((instance) => instance.name === name),
  )
}

function lastState(state: ContainerState | undefined): { lastState?: ContainerState } {
  return state === undefined ? {} : { lastState: state }
}

function volumeMounts(mounts: readonly VolumeMount[] | undefined): Pick<ContainerStatus, 'volumeMounts'> {
  if (mounts === undefined || mounts.length === 0) return {}
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({
      name,
      mountPath,
      ...(readOnly === true ? { readOnly, recursiveReadOnly: 'Disabled' } : {}),
    })),
  }
}

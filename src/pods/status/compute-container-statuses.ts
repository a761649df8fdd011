import type {
  Container,
  ContainerState,
  ContainerStateWaiting,
  ContainerStatus,
  EphemeralContainer,
  VolumeMount,
  VolumeMountStatus,
} from '../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import type { ContainerKind } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { restartAllTriggers } from '../../model/pod/restart-all-triggers.ts'
import { initExitCode, mayRestart } from '../../model/pod/restart-policy.ts'
import { wasRestartingAll } from './compute-conditions.ts'
import { computeResourcesStatus } from './compute-resources-status.ts'
import { computeTerminationMessage } from './compute-termination-message.ts'
import { RESTARTING_ALL } from './status-input.ts'
import type { StatusInput } from './status-input.ts'
import { toApiTime } from '../../model/text/api-time.ts'

type AnyContainer = Container | EphemeralContainer

// What a container that vanished without leaving an exit code is said to have ended with: as if killed.
export const LOST_EXIT_CODE = 137
const LOST_REASON = 'ContainerStatusUnknown'
const RESET_MESSAGE = 'The container is removed because RestartAllContainers in place'
const INIT_CLEANED_UP =
  'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally'
const LOST_WHEN_DELETED =
  'The container could not be located when the pod was deleted.  The container used to be Running'
export const LOST_WHEN_TERMINATED = 'The container could not be located when the pod was terminated'

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
  const [newest, ...older] = input.observed.containers.filter(({ name }) => name === container.name)
  const ended = older.find(({ state }) => state === 'exited')
  const status =
    newest === undefined
      ? absentStatus(input, { kind, container, old })
      : presentStatus(input, { kind, container, old, newest, ended })
  const known = withDeviceHealth(input, { kind, status, old })
  return withWaitingReason(input, { kind, container, status: known, newest })
}

/** Devices that a container gave back, and those whose plugin is not there yet, are as they were last reported. */
function withDeviceHealth(
  { deviceHealth }: StatusInput,
  { kind, status, old }: Pick<Absent, 'kind' | 'old'> & { readonly status: ContainerStatus },
): ContainerStatus {
  const known = deviceHealth.get(status.name) ?? []
  const kept = (old?.allocatedResourcesStatus ?? []).filter(({ name }) => !known.some((each) => each.name === name))
  if (kind !== 'regular' || kept.length + known.length === 0) return status
  return { ...status, allocatedResourcesStatus: [...kept, ...known] }
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
  if (old !== undefined && isReset(input, kind, old)) return resetStatus(container, old)
  if (old?.state?.terminated !== undefined) return old
  const wasLost = old?.state?.running !== undefined && old.lastState?.terminated === undefined
  const isDeleted = input.pod.metadata.deletionTimestamp !== undefined
  // A regular container is there, so this one has done its work; its instance was cleaned up.
  const isDone = kind === 'init' && !isSidecar(container) && hasRegularInSandbox(input)
  const waiting = old?.state?.waiting?.reason === RESTARTING_ALL ? old.state.waiting : firstWait(input.pod)
  return {
    name: container.name,
    state: isDone ? { terminated: { exitCode: 0, reason: 'Completed', message: INIT_CLEANED_UP } } : { waiting },
    ...lastState(wasLost ? lostState(LOST_WHEN_DELETED) : old?.lastState),
    ready: isDone,
    ...(kind === 'ephemeral' ? {} : { started: false }),
    restartCount: (old?.restartCount ?? 0) + (wasLost && !isDeleted ? 1 : 0),
    image: container.image ?? '',
    imageID: '',
    ...volumeMounts(container.volumeMounts),
  }
}

function firstWait({ spec }: Pod): ContainerStateWaiting {
  return { reason: (spec.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' }
}

/** Was the container removed now, to restart with all others of the pod? One that was never seen was not. */
function isReset({ pod, observed, previous }: StatusInput, kind: ContainerKind, old: ContainerStatus): boolean {
  if (kind === 'ephemeral' || old.containerID === undefined) return false
  if (old.state?.running === undefined && old.state?.terminated === undefined) return false
  return wasRestartingAll(previous?.conditions) || restartAllTriggers(pod, observed).length > 0
}

function resetStatus(container: AnyContainer, old: ContainerStatus): ContainerStatus {
  const end = { reason: RESTARTING_ALL, message: RESET_MESSAGE }
  return {
    name: container.name,
    state: { waiting: end },
    lastState: { terminated: { exitCode: LOST_EXIT_CODE, ...end } },
    ready: false,
    started: false,
    restartCount: old.restartCount + 1,
    image: container.image ?? '',
    imageID: '',
    ...volumeMounts(container.volumeMounts),
  }
}

interface Present extends Absent {
  readonly newest: ObservedContainer
  /** The newest of the instances before it that ended. */
  readonly ended: ObservedContainer | undefined
}

function presentStatus(input: StatusInput, present: Present): ContainerStatus {
  const { kind, container, old, newest } = present
  const containerID = `${input.runtimeName}://${newest.id}`
  const isPlainInit = kind === 'init' && !isSidecar(container)
  const runs = newest.state === 'running'
  const started = runs && (isPlainInit || (input.started.get(newest.id) ?? true))
  const ready = isPlainInit
    ? newest.state === 'exited' && initExitCode(newest) === 0
    : started && (input.ready.get(newest.id) ?? true)
  const lost = newest.state === 'unknown' ? countLost(old, containerID) : undefined
  // A number once reported is never taken back, even when the runtime lost the instances that it came from.
  const restartCount = Math.max(old?.restartCount ?? 0, lost ?? newest.restartCount)
  return {
    name: container.name,
    state: lost === undefined ? toState(input, newest) : lostState(LOST_WHEN_TERMINATED),
    ...lastState(toLastState(input, present, { containerID, restartCount })),
    ready: kind !== 'ephemeral' && ready,
    ...(kind === 'ephemeral' ? {} : { started }),
    restartCount,
    image: newest.image,
    imageID: newest.imageRef,
    containerID,
    ...(kind === 'ephemeral' ? { resources: {} } : resourcesStatus(input, container, newest)),
    ...(newest.stopSignal === undefined ? {} : { stopSignal: newest.stopSignal }),
    ...(newest.user === undefined ? {} : { user: { linux: newest.user } }),
    ...volumeMounts(container.volumeMounts, {
      recursive: newest.recursiveReadOnly,
      images: input.imageVolumeDigests ? newest.mountedImages : undefined,
    }),
  }
}

/** What a container has now that runs, and had when it ended. */
function resourcesStatus(
  { actuated }: StatusInput,
  { name, resources }: AnyContainer,
  { state, applied }: ObservedContainer,
): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  if (state !== 'running') return computeResourcesStatus({ allocated: resources })
  return computeResourcesStatus({ allocated: resources, actuated: actuated?.containers.get(name), applied })
}

/** The restart count of an instance that ran and is in no known state now; undefined when it was not seen running. */
function countLost(old: ContainerStatus | undefined, containerID: string): number | undefined {
  if (old?.state?.running !== undefined) return old.restartCount + 1
  const reportedBefore = old?.containerID === containerID && old.state?.terminated?.reason === LOST_REASON
  return reportedBefore ? old.restartCount : undefined
}

/** How the instance before this one ended: as the runtime has it, else as it was reported when the runtime still had it. */
function toLastState(
  input: StatusInput,
  { ended, old }: Present,
  current: { readonly containerID: string; readonly restartCount: number },
): ContainerState | undefined {
  if (ended !== undefined) return toState(input, ended)
  if (old?.state?.terminated !== undefined && old.containerID !== current.containerID) return old.state
  return current.restartCount > 0 ? old?.lastState : undefined
}

/** How a container ended of whose end nothing is known. */
export function lostState(message: string): ContainerState {
  return { terminated: { exitCode: LOST_EXIT_CODE, reason: LOST_REASON, message } }
}

function toState(input: StatusInput, instance: ObservedContainer): ContainerState {
  switch (instance.state) {
    case 'running':
      return { running: { startedAt: toApiTime(instance.startedAt) } }
    case 'exited': {
      const message = computeTerminationMessage(instance.message, input.terminationMessages.get(instance.id) ?? '')
      return {
        terminated: {
          exitCode: instance.exitCode,
          reason: instance.reason,
          ...(message === '' ? {} : { message }),
          // One that never began has the first moment of all, as the runtime has it.
          startedAt: toApiTime(instance.startedAt),
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

/** A container that should run and could not yet be started shows why; its end moves to lastState. */
function withWaitingReason(input: StatusInput, { kind, container, status, newest }: Restarting): ContainerStatus {
  const waiting = input.waiting.get(container.name)
  if (waiting === undefined || input.ended || !shouldStart(input.pod, { kind, container, newest })) return status
  const ended = status.state?.terminated
  return {
    ...status,
    state: { waiting: { reason: waiting.reason, ...(waiting.message === '' ? {} : { message: waiting.message }) } },
    ...(ended === undefined ? {} : { lastState: { terminated: ended } }),
  }
}

function shouldStart(pod: Pod, { kind, container, newest }: Omit<Restarting, 'status'>): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || newest?.state === 'running') return false
  if (newest === undefined) return true
  if (kind === 'ephemeral') return false
  if (newest.state !== 'exited') return true
  // A sidecar that ended well starts again too, and is still shown as it ended.
  const exitCode = kind === 'init' ? initExitCode(newest) : newest.exitCode
  return !(kind === 'init' && exitCode === 0) && mayRestart(pod, container, exitCode)
}

/** What an older sandbox left behind says nothing about the init containers of this one. */
function hasRegularInSandbox({ pod, observed }: StatusInput): boolean {
  return observed.containers.some(
    ({ name, sandboxId }) =>
      sandboxId === observed.sandboxes[0]?.id && pod.spec.containers.some((container) => container.name === name),
  )
}

function lastState(state: ContainerState | undefined): { lastState?: ContainerState } {
  return state === undefined ? {} : { lastState: state }
}

/** Where the spec leaves it to the runtime whether a mount is read-only to its depths, the runtime says it. */
function volumeMounts(
  mounts: readonly VolumeMount[] | undefined,
  {
    recursive = [],
    images,
  }: {
    readonly recursive?: readonly string[] | undefined
    /** What is mounted of images, by path. */
    readonly images?: ReadonlyMap<string, string> | undefined
  } = {},
): Pick<ContainerStatus, 'volumeMounts'> {
  if (mounts === undefined || mounts.length === 0) return {}
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
      name,
      mountPath,
      ...(readOnly === true
        ? {
            readOnly,
            recursiveReadOnly:
              recursiveReadOnly === 'Enabled' || recursive.includes(mountPath) ? 'Enabled' : 'Disabled',
          }
        : {}),
      ...imageStatus(images?.get(mountPath)),
    })),
  }
}

function imageStatus(imageRef: string | undefined): Pick<VolumeMountStatus, 'volumeStatus'> {
  return imageRef === undefined ? {} : { volumeStatus: { image: { imageRef } } }
}

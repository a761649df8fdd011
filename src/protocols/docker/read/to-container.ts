import { ContainerState } from '../../cri/generated/runtime-v1.ts'
import type { ContainerStatus, Mount } from '../../cri/generated/runtime-v1.ts'
import { Container, ContainerStatus as ContainerStatusMessage } from '../../cri/generated/runtime-v1.ts'
import type { InspectedContainer, ListedContainer } from '../api/docker-types.ts'
import { fromDockerLabels, LOG_PATH_LABEL, SANDBOX_ID_LABEL } from '../create/docker-labels.ts'
import { hasBegun, parseDockerName } from '../create/docker-names.ts'
import { parseDockerTime } from './parse-docker-time.ts'

const NANOS_PER_SECOND = 1_000_000_000n

const LISTED_STATES: Readonly<Record<string, ContainerState>> = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  paused: ContainerState.CONTAINER_RUNNING,
  restarting: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
}

// As containerd says it of a start that ended with its caller: the agent knows what to do then.
const LOST = {
  state: ContainerState.CONTAINER_EXITED,
  exitCode: 128,
  reason: 'StartError',
  message: 'Docker died while it started the container: context canceled',
}

/** What Docker calls an image that a container runs. */
export interface ImageNames {
  /** A tag, where it has one. */
  readonly name: string
  readonly ref: string
}

/** An entry of the list; undefined for a container that no kubelet made. */
export function toContainer(listed: ListedContainer): Container | undefined {
  const name = parseDockerName(listed.Names?.[0] ?? '')
  if (name === undefined) return undefined
  const all = listed.Labels ?? {}
  return Container.fromPartial({
    id: listed.Id,
    podSandboxId: all[SANDBOX_ID_LABEL] ?? '',
    metadata: { name: name.container, attempt: name.attempt },
    image: { image: listed.Image },
    imageRef: listed.ImageID,
    imageId: listed.ImageID,
    state: toListedState(listed),
    createdAt: BigInt(listed.Created) * NANOS_PER_SECOND,
    ...fromDockerLabels(all),
  })
}

function toListedState({ State: state, Names: names }: ListedContainer): ContainerState {
  if (state === 'created' && hasBegun(names?.[0] ?? '')) return ContainerState.CONTAINER_EXITED
  return LISTED_STATES[state] ?? ContainerState.CONTAINER_UNKNOWN
}

/** The status of a container; undefined for one that no kubelet made. */
export function toContainerStatus(inspected: InspectedContainer, image: ImageNames): ContainerStatus | undefined {
  const name = parseDockerName(inspected.Name)
  if (name === undefined) return undefined
  const all = inspected.Config.Labels ?? {}
  const { HostConfig: host } = inspected
  return ContainerStatusMessage.fromPartial({
    id: inspected.Id,
    metadata: { name: name.container, attempt: name.attempt },
    createdAt: parseDockerTime(inspected.Created),
    ...toState(inspected),
    image: { image: image.name },
    imageRef: image.ref,
    imageId: inspected.Image,
    ...fromDockerLabels(all),
    mounts: toMounts(inspected),
    logPath: all[LOG_PATH_LABEL] ?? '',
    resources: {
      linux: {
        cpuShares: BigInt(host.CpuShares ?? 0),
        cpuQuota: BigInt(host.CpuQuota ?? 0),
        cpuPeriod: BigInt(host.CpuPeriod ?? 0),
        cpusetCpus: host.CpusetCpus ?? '',
        cpusetMems: host.CpusetMems ?? '',
        memoryLimitInBytes: BigInt(host.Memory ?? 0),
        memorySwapLimitInBytes: BigInt(host.MemorySwap ?? 0),
        oomScoreAdj: BigInt(host.OomScoreAdj ?? 0),
      },
    },
  })
}

/** The state that Docker shows, by what happened and not by its name of it: one that could not start is "created" there. */
export function stateOf({ State: state, Name: name }: Pick<InspectedContainer, 'State' | 'Name'>): ContainerState {
  if (state.Running) return ContainerState.CONTAINER_RUNNING
  // A Docker that died while it removed a container shows it as dead: if it was never started, it is none that counts as a start.
  const isGoing = state.Status === 'dead' || state.Status === 'removing'
  if (isGoing && parseDockerTime(state.StartedAt) > 0n) return ContainerState.CONTAINER_UNKNOWN
  if (parseDockerTime(state.FinishedAt) > 0n || state.ExitCode !== 0) return ContainerState.CONTAINER_EXITED
  return hasBegun(name) ? ContainerState.CONTAINER_EXITED : ContainerState.CONTAINER_CREATED
}

function toState(inspected: InspectedContainer): Partial<ContainerStatus> {
  const { State: state } = inspected
  const startedAt = parseDockerTime(state.StartedAt)
  const finishedAt = parseDockerTime(state.FinishedAt)
  const current = stateOf(inspected)
  if (current !== ContainerState.CONTAINER_EXITED) {
    const started = current === ContainerState.CONTAINER_RUNNING ? startedAt : 0n
    return { state: current, startedAt: started, finishedAt: 0n }
  }
  const { ExitCode: exitCode, Error: message } = state
  const createdAt = parseDockerTime(inspected.Created)
  if (hasBegun(inspected.Name)) return { ...LOST, startedAt: 0n, finishedAt: createdAt }
  if (startedAt === 0n) {
    return {
      state: current,
      startedAt: 0n,
      finishedAt: finishedAt || createdAt,
      exitCode,
      reason: 'ContainerCannotRun',
      message,
    }
  }
  const reason = state.OOMKilled ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error'
  return { state: current, startedAt, finishedAt, exitCode, reason, message }
}

function toMounts({ Mounts: mounts, HostConfig: host }: InspectedContainer): Partial<Mount>[] {
  const recursive = new Set(
    (host.Mounts ?? []).filter(({ BindOptions: b }) => b?.ReadOnlyForceRecursive === true).map(({ Target }) => Target),
  )
  return (mounts ?? []).map(({ Source: source = '', Destination: destination = '', RW: writable = true }) => ({
    hostPath: source,
    containerPath: destination,
    readonly: !writable,
    recursiveReadOnly: recursive.has(destination),
  }))
}

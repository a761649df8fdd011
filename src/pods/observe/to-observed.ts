import { ContainerState, NamespaceMode, PodSandboxState, Signal } from '../../protocols/cri/generated/runtime-v1.ts'
import type {
  Container,
  ContainerStatus,
  PodSandbox,
  PodSandboxStatus,
} from '../../protocols/cri/generated/runtime-v1.ts'
import { DEVICES_ANNOTATION } from '../../model/pod/devices-annotation.ts'
import type { ObservedContainer, ObservedSandbox } from '../../model/pod/observed-pod.ts'
import { parseKeptSpec, PRE_STOP_ANNOTATION } from './parse-kept-spec.ts'

/** Labels by which the parts of a pod are found again; the Go kubelet's own. */
export const POD_UID_LABEL = 'io.kubernetes.pod.uid'
export const POD_NAME_LABEL = 'io.kubernetes.pod.name'
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace'
const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name'
const HASH_ANNOTATION = 'io.kubernetes.container.hash'
const RESTART_COUNT_ANNOTATION = 'io.kubernetes.container.restartCount'
const TERMINATION_PATH_ANNOTATION = 'io.kubernetes.container.terminationMessagePath'

const STATES: Readonly<Record<ContainerState, ObservedContainer['state']>> = {
  [ContainerState.CONTAINER_CREATED]: 'created',
  [ContainerState.CONTAINER_RUNNING]: 'running',
  [ContainerState.CONTAINER_EXITED]: 'exited',
  [ContainerState.CONTAINER_UNKNOWN]: 'unknown',
}

/** The state that a list shows; a state that came after us counts as unknown. */
function toContainerState(state: ContainerState): ObservedContainer['state'] {
  return state in STATES ? STATES[state] : 'unknown'
}

/**
 * A start that ended with its caller: the agent died while the runtime was at it. The runtime calls that an exit, but as long as it had not
 * even created the task nothing ran, and a pod that runs once must not count as failed for it. Later the program may have begun, and what may
 * have run does not run again unless its restart policy says so (settleBrokenStarts).
 */
function findInterruption({ state, startedAt, reason, message }: ContainerStatus): 'none' | 'before' | 'during' {
  const failed = state === ContainerState.CONTAINER_EXITED && startedAt === 0n && reason === 'StartError'
  if (!failed) return 'none'
  if (/failed to create containerd task: .*(context canceled|signal: killed)/.test(message)) return 'before'
  return message.includes('context canceled') ? 'during' : 'none'
}

/** Does a list show the state that an instance is known in? */
export function hasListedState(known: ObservedContainer, listed: ContainerState): boolean {
  const state = toContainerState(listed)
  return known.state === state || (known.state === 'created' && known.finishedAt > 0 && state === 'exited')
}

/** One container from its entry in the list and its status; what it does, it does since these times for us. */
export function toObservedContainer(
  listed: Pick<Container, 'labels' | 'podSandboxId'>,
  status: ContainerStatus,
  { runsSince, endSeenAt }: Pick<ObservedContainer, 'runsSince' | 'endSeenAt'>,
): ObservedContainer {
  const interruption = findInterruption(status)
  const interrupted = interruption === 'before'
  const state = interrupted ? 'created' : toContainerState(status.state)
  const linux = status.user?.linux
  return {
    id: status.id,
    name: listed.labels[CONTAINER_NAME_LABEL] ?? status.metadata?.name ?? '',
    sandboxId: listed.podSandboxId,
    state,
    hash: status.annotations[HASH_ANNOTATION] ?? '',
    restartCount: Number.parseInt(status.annotations[RESTART_COUNT_ANNOTATION] ?? '0', 10) || 0,
    createdAt: toMilliseconds(status.createdAt),
    startedAt: state === 'created' ? 0 : toMilliseconds(status.startedAt),
    runsSince: state === 'running' ? runsSince : 0,
    ...(state === 'exited'
      ? {
          finishedAt: toMilliseconds(status.finishedAt),
          exitCode: status.exitCode,
          reason: status.reason,
          message: status.message,
        }
      : { finishedAt: interrupted ? toMilliseconds(status.finishedAt) : 0, exitCode: 0, reason: '', message: '' }),
    endSeenAt: state === 'exited' || interrupted ? endSeenAt : 0,
    image: status.image?.image ?? '',
    imageRef: status.imageRef,
    logPath: status.logPath,
    terminationLog: terminationLog(status),
    ...reported(status),
    ...(interruption === 'during' ? { isBrokenOff: true } : {}),
    ...(state === 'unknown' || (state === 'running' && PRE_STOP_ANNOTATION in status.annotations)
      ? { keptSpec: parseKeptSpec(status.annotations) }
      : {}),
    ...(linux === undefined
      ? {}
      : {
          user: {
            uid: Number(linux.uid),
            gid: Number(linux.gid),
            supplementalGroups: linux.supplementalGroups.map(Number),
          },
        }),
  }
}

/** What only newer runtimes report, or only some containers have. */
function reported({
  resources,
  stopSignal,
  mounts,
  annotations,
}: ContainerStatus): Pick<
  ObservedContainer,
  'applied' | 'devices' | 'stopSignal' | 'recursiveReadOnly' | 'mountedImages'
> {
  const { [DEVICES_ANNOTATION]: devices } = annotations
  const linux = resources?.linux
  const signal = Object.entries(Signal).find(([, number]) => number === stopSignal)?.[0]
  const paths = mounts.filter(({ recursiveReadOnly }) => recursiveReadOnly).map(({ containerPath }) => containerPath)
  const images = mounts.flatMap(({ containerPath, image }) =>
    image === undefined || image.image === '' ? [] : [[containerPath, image.image] as const],
  )
  return {
    ...(linux === undefined
      ? {}
      : {
          applied: {
            cpuShares: linux.cpuShares,
            cpuQuota: linux.cpuQuota,
            cpuPeriod: linux.cpuPeriod,
            memoryLimitBytes: linux.memoryLimitInBytes,
          },
        }),
    ...(devices === undefined ? {} : { devices }),
    ...(signal === undefined || stopSignal === Signal.RUNTIME_DEFAULT ? {} : { stopSignal: signal }),
    ...(paths.length === 0 ? {} : { recursiveReadOnly: paths }),
    ...(images.length === 0 ? {} : { mountedImages: new Map(images) }),
  }
}

function terminationLog({ annotations, mounts }: ContainerStatus): string {
  const path = annotations[TERMINATION_PATH_ANNOTATION]
  return mounts.find(({ containerPath }) => containerPath === path)?.hostPath ?? ''
}

/** One sandbox from its status. */
export function toObservedSandbox(status: PodSandboxStatus, isAdopted = false): ObservedSandbox {
  const { network } = status
  const ready = status.state === PodSandboxState.SANDBOX_READY
  const users = status.linux?.namespaces?.options?.usernsOptions
  return {
    id: status.id,
    attempt: status.metadata?.attempt ?? 0,
    ready,
    createdAt: toMilliseconds(status.createdAt),
    ...(isAdopted ? { isAdopted } : {}),
    hostNetwork: status.linux?.namespaces?.options?.network === NamespaceMode.NODE,
    ips:
      network === undefined
        ? undefined
        : [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== ''),
    ...(status.runtimeHandler === '' ? {} : { runtimeHandler: status.runtimeHandler }),
    ...(users?.mode === NamespaceMode.POD && users.uids.length > 0
      ? { userNamespace: { uids: users.uids, gids: users.gids } }
      : {}),
  }
}

export function isSandboxReady(sandbox: PodSandbox): boolean {
  return sandbox.state === PodSandboxState.SANDBOX_READY
}

/** The times of the runtime are in nanoseconds. */
export function toMilliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e6
}

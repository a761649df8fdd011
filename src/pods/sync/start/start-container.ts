import { ContainerConfigError } from '../../containers/pod-config-error.ts'
import { containerLogSymlink } from '../../containers/log-paths.ts'
import type { Turnstile } from '../../../base/async/turnstile.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { ContainerConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import { isCrashing, startPriority } from '../decide/start-priority.ts'
import type { PassSignals } from '../pod-pass.ts'
import { removeContainer } from '../stop/remove-container.ts'
import type { RemoveContainerDeps } from '../stop/remove-container.ts'
import { describeContainer } from './describe-container.ts'
import type { DescribeContainerDeps, ContainerStartRequest } from './describe-container.ts'

export type StartContainerDeps = DescribeContainerDeps &
  RemoveContainerDeps & {
    readonly calls: Pick<CriCalls, 'createContainer' | 'startContainer'>
    readonly starts: Pick<Turnstile, 'runInTurn'>
    /** Why the runtime gives containers no CDI devices; undefined when it does. */
    readonly cdiFault: (signal: AbortSignal) => Promise<string | undefined>
    readonly files: {
      /** Does nothing when there is no log file to point at. */
      linkLog(link: string, target: string): Promise<void>
    }
    readonly events: PodEvents
    readonly log: Logger
  }

/** Makes one instance of a container, starts it and returns its id. Fails with a StartError whose reason users see. */
export async function startContainer(
  deps: StartContainerDeps,
  request: ContainerStartRequest,
  { superseded, shutdown }: PassSignals,
): Promise<string> {
  const { pod, podContainer, observed } = request
  try {
    // Without a start slot: a volume that hangs here must not keep other pods out.
    const config = await prepareContainer(deps, request, superseded)
    await reportIgnoredDevices(deps, request, { config, signal: superseded })
    const createAndStart = () => runContainer(deps, { ...request, config }, shutdown)
    const step = isCrashing(observed, podContainer.container.name) ? 'crashing container' : 'container'
    return await deps.starts.runInTurn(startPriority(pod, step), createAndStart, superseded)
  } catch (error) {
    if (error instanceof StartError) {
      const fieldPath = containerFieldPath(podContainer.kind, podContainer.container.name)
      deps.events.record(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${error.message}`, fieldPath })
    }
    throw error
  }
}

/** The container runs without its devices then, which only its own errors would show. */
async function reportIgnoredDevices(
  { cdiFault, events, log }: StartContainerDeps,
  { pod, podContainer }: ContainerStartRequest,
  { config, signal }: { readonly config: ContainerConfig; readonly signal: AbortSignal },
): Promise<void> {
  if (config.CDIDevices.length === 0) return
  const fault = await cdiFault(signal).catch(() => undefined)
  if (fault === undefined) return
  const names = config.CDIDevices.map(({ name }) => name).join(', ')
  const message = `The container runtime ignores the CDI devices ${names}, the container runs without them: ${fault}`
  const fieldPath = containerFieldPath(podContainer.kind, podContainer.container.name)
  events.record(pod, { type: 'Warning', reason: 'CDIDevicesIgnored', message, fieldPath })
  log.warn('the container runtime ignores CDI devices of a container', {
    pod: podLogName(pod),
    uid: pod.metadata.uid,
    container: podContainer.container.name,
    devices: names,
    why: fault,
  })
}

async function runContainer(
  deps: StartContainerDeps,
  request: ContainerStartRequest & { readonly config: ContainerConfig },
  signal: AbortSignal,
): Promise<string> {
  const { pod, podContainer, sandbox, config } = request
  const fieldPath = containerFieldPath(podContainer.kind, podContainer.container.name)
  await removeNeverStarted(deps, request, signal)
  const { containerId } = await inStep(
    'CreateContainerError',
    () => deps.calls.createContainer({ podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config }, signal),
    () => imageVolumeHint(deps, config),
  )
  deps.events.record(pod, { type: 'Normal', reason: 'Created', message: 'Container created', fieldPath })
  await inStep('RunContainerError', () => deps.calls.startContainer({ containerId }, signal))
  deps.events.record(pod, { type: 'Normal', reason: 'Started', message: 'Container started', fieldPath })
  await linkLog(deps, request, { containerId, logPath: config.logPath })
  return containerId
}

/** The link serves log collectors only: a container that runs is not at fault when it cannot be made. */
async function linkLog(
  deps: StartContainerDeps,
  { pod, podContainer, sandbox }: ContainerStartRequest,
  { containerId, logPath }: { readonly containerId: string; readonly logPath: string },
): Promise<void> {
  const link = containerLogSymlink(pod, podContainer.container.name, containerId)
  try {
    await deps.files.linkLog(link, `${sandbox.config.logDirectory}/${logPath}`)
  } catch (error) {
    deps.log.warn('cannot link the log of a container', { pod: podLogName(pod), uid: pod.metadata.uid, link, error })
  }
}

/** An instance that was made and never started (the agent died in between) makes way, and its number is used again. */
async function removeNeverStarted(
  deps: StartContainerDeps,
  { pod, observed, podContainer }: ContainerStartRequest,
  signal: AbortSignal,
): Promise<void> {
  const newest = newestInstance(observed, podContainer.container.name)
  if (newest?.state !== 'created') return
  const { uid } = pod.metadata
  await inStep('CreateContainerError', () => removeContainer(deps, { uid, id: newest.id }, signal))
}

/** What keeps the container from being described, such as a full disk, is shown to its users. */
async function prepareContainer(
  deps: StartContainerDeps,
  request: ContainerStartRequest,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  try {
    return await describeContainer(deps, request, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof ContainerConfigError) throw new StartError(error.reason, error.message, { cause: error })
    const message = errorMessage(error)
    throw new StartError('CreateContainerConfigError', message, { cause: error })
  }
}

/** Gives a failed call of the runtime the reason that belongs to its step. A runtime that is away is not the container's fault. */
async function inStep<T>(reason: string, call: () => Promise<T>, hint = () => ''): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof CriCallError) || error.code === 'Unavailable') throw error
    const message = error.reason === undefined ? `${error.detail}${hint()}` : error.detail
    throw new StartError(error.reason ?? reason, message, { cause: error })
  }
}

/** A runtime without image volumes only misses a path on the host, which helps no user. */
function imageVolumeHint({ features }: StartContainerDeps, { mounts }: ContainerConfig): string {
  if (features().imageVolumes !== 'unknown' || mounts.every(({ image }) => image === undefined)) return ''
  return ' (the container mounts images, which this container runtime may not support)'
}

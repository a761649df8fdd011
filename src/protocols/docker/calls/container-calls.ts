import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { ContainerState, SecurityProfile_ProfileType as ProfileType } from '../../cri/generated/runtime-v1.ts'
import type { ContainerConfig } from '../../cri/generated/runtime-v1.ts'
import { DockerError, isMissing } from '../api/docker-error.ts'
import type { InspectedContainer } from '../api/docker-types.ts'
import { computeContainer } from '../create/compute-container.ts'
import { computeResources } from '../create/compute-resources.ts'
import { CONTAINER_TYPE, LOG_PATH_LABEL, SANDBOX_ID_LABEL, TYPE_LABEL } from '../create/docker-labels.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { stateOf, toContainer, toContainerStatus } from '../read/to-container.ts'
import { createNamed, removeForced } from './create-named.ts'
import { endLostStart } from './end-lost-start.ts'
import { findImage, readImageNames } from './image-calls.ts'
import { inspect, listByLabels, requireContainer } from './inspect.ts'
import { requireReadySandbox } from './sandbox-calls.ts'

/** Makes a container in a sandbox. It is started by startContainer(). */
export async function createContainer(
  deps: DockerDeps,
  { podSandboxId, config, sandboxConfig }: CriRequest<'createContainer'>,
  signal: AbortSignal,
): Promise<CriResponse<'createContainer'>> {
  const { api, daemon, files, logLimits } = deps
  if (config?.metadata === undefined || sandboxConfig?.metadata === undefined)
    throw new CriCallError('createContainer', 'InvalidArgument', 'the container or its pod has no name')
  const sandbox = await requireReadySandbox(deps, podSandboxId, signal)
  const image = config.image?.image ?? ''
  if ((await findImage(deps, image, signal)) === undefined)
    throw new CriCallError('createContainer', 'NotFound', `failed to resolve image "${image}": not found`)
  const { logDirectory, linux } = sandboxConfig
  const { Runtime: runtime = '', NetworkMode: network } = sandbox.HostConfig
  const body = computeContainer(config, {
    apiVersion: await api.version(signal),
    cgroupDriver: (await daemon.info(signal)).CgroupDriver ?? '',
    leastOomScore: files.leastOomScore(),
    sandboxId: sandbox.Id,
    cgroupParent: linux?.cgroupParent ?? '',
    hostNetwork: network === 'host',
    environment: config.envs.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`),
    runtime,
    logPath: logDirectory === '' || config.logPath === '' ? '' : `${logDirectory}/${config.logPath}`,
    logLimits,
    seccompProfile: await readSeccompProfile(deps, config),
  })
  const { name: pod, namespace, uid } = sandboxConfig.metadata
  const { name: container, attempt } = config.metadata
  const containerId = await createNamed(deps, { container, pod, namespace, uid, attempt }, body, signal)
  return { containerId }
}

/** Docker takes the content of a profile and not its path. */
async function readSeccompProfile({ files }: DockerDeps, { linux }: ContainerConfig): Promise<string | undefined> {
  const seccomp = linux?.securityContext?.seccomp
  if (seccomp?.profileType !== ProfileType.Localhost) return undefined
  if (!seccomp.localhostRef.startsWith('/')) {
    const detail = `Cannot use the seccomp profile "${seccomp.localhostRef}": expected an absolute path`
    throw new CriCallError('createContainer', 'InvalidArgument', detail)
  }
  try {
    return await files.readText(seccomp.localhostRef)
  } catch (error) {
    const detail = `cannot load seccomp profile "${seccomp.localhostRef}": ${errorMessage(error)}`
    throw new CriCallError('createContainer', 'Unknown', detail, { cause: error })
  }
}

/** Starts a container once: Docker itself would start one again that has ended. */
export async function startContainer(
  deps: DockerDeps,
  { containerId }: CriRequest<'startContainer'>,
  signal: AbortSignal,
): Promise<CriResponse<'startContainer'>> {
  const { api } = deps
  const container = await requireContainer(api, 'startContainer', containerId, signal)
  const state = stateOf(container)
  if (state !== ContainerState.CONTAINER_CREATED) {
    const detail = `failed to set starting state for container "${containerId}": container is in ${stateName(state)} state`
    throw new CriCallError('startContainer', 'Unknown', detail)
  }
  // Before the start: an agent that dies just after it would leave a container without a log.
  await linkLog(deps, container, signal)
  try {
    await api.json({ method: 'POST', path: `/containers/${container.Id}/start` }, signal)
  } catch (error) {
    if (!(error instanceof DockerError)) throw error
    // Docker shows the same text as the message of the container from now on.
    throw new CriCallError('startContainer', 'Unknown', error.message, { cause: error })
  }
  return {}
}

export function stateName(state: ContainerState): string {
  return Object.entries(ContainerState).find(([, number]) => number === state)?.[0] ?? 'CONTAINER_UNKNOWN'
}

/** The agent finds the log of a container where it asked for it; what Docker writes is in a folder of Docker's. */
async function linkLog(deps: DockerDeps, container: InspectedContainer, signal: AbortSignal): Promise<void> {
  const path = container.Config.Labels?.[LOG_PATH_LABEL] ?? ''
  if (path !== '') await deps.files.linkLog(path, await findLog(deps, container, signal))
}

async function unlinkLog(deps: DockerDeps, container: InspectedContainer, signal: AbortSignal): Promise<void> {
  const path = container.Config.Labels?.[LOG_PATH_LABEL] ?? ''
  if (path !== '') await deps.files.unlinkLog(path, await findLog(deps, container, signal))
}

/** The path of the log that Docker writes; Docker itself knows it only from the start on. */
async function findLog(
  { daemon }: DockerDeps,
  { Id: id, LogPath: known = '' }: InspectedContainer,
  signal: AbortSignal,
): Promise<string> {
  const { DockerRootDir: root } = await daemon.info(signal)
  return known === '' ? `${root}/containers/${id}/${id}-json.log` : known
}

/** Ends a container with its own signal, and after the grace period with SIGKILL. One that is gone or ended is stopped. */
export async function stopContainer(
  { api }: DockerDeps,
  { containerId, timeout }: CriRequest<'stopContainer'>,
  signal: AbortSignal,
): Promise<CriResponse<'stopContainer'>> {
  const container = await inspect(api, containerId, CONTAINER_TYPE, signal)
  if (container === undefined || !container.State.Running) return {}
  const query = { t: String(timeout < 0n ? 0n : timeout) }
  try {
    await api.json({ method: 'POST', path: `/containers/${container.Id}/stop`, query }, signal)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return {}
}

export async function removeContainer(
  deps: DockerDeps,
  { containerId }: CriRequest<'removeContainer'>,
  signal: AbortSignal,
): Promise<CriResponse<'removeContainer'>> {
  const container = await inspect(deps.api, containerId, CONTAINER_TYPE, signal)
  if (container === undefined) return {}
  if ((await endLostStart(deps, container, signal)) === 'begun') {
    // What may run only once must not run again: the caller observes that it ran, and decides.
    const detail = `container "${containerId}" ran although Docker shows it as never started: it was ended`
    throw new CriCallError('removeContainer', 'Unavailable', detail)
  }
  // The link to its log stays, as a log would: the agent counts by them, and removes them itself. What was never started has none.
  if (stateOf(container) === ContainerState.CONTAINER_CREATED) await unlinkLog(deps, container, signal)
  await removeForced(deps, container.Id, signal)
  return {}
}

export async function listContainers(
  { api }: DockerDeps,
  { filter }: CriRequest<'listContainers'>,
  signal: AbortSignal,
): Promise<CriResponse<'listContainers'>> {
  const { id = '', podSandboxId = '', state, labelSelector = {} } = filter ?? {}
  const sandbox = podSandboxId === '' ? {} : { [SANDBOX_ID_LABEL]: podSandboxId }
  const listed = await listByLabels(api, { [TYPE_LABEL]: CONTAINER_TYPE, ...sandbox, ...labelSelector }, signal)
  const containers = listed
    .map((one) => toContainer(one))
    .filter((container) => container !== undefined)
    .filter((container) => container.id.startsWith(id) && (state === undefined || container.state === state.state))
  return { containers }
}

export async function containerStatus(
  deps: DockerDeps,
  { containerId, verbose }: CriRequest<'containerStatus'>,
  signal: AbortSignal,
): Promise<CriResponse<'containerStatus'>> {
  const container = await requireContainer(deps.api, 'containerStatus', containerId, signal)
  const status = toContainerStatus(container, await readImageNames(deps, container, signal))
  const info: Record<string, string> = verbose ? { info: JSON.stringify({ pid: container.State.Pid }) } : {}
  return { status, info }
}

/** Memory and swap change together: a new limit above the old swap would be refused. */
export async function updateContainerResources(
  { api }: DockerDeps,
  { containerId, linux }: CriRequest<'updateContainerResources'>,
  signal: AbortSignal,
): Promise<CriResponse<'updateContainerResources'>> {
  const container = await requireContainer(api, 'updateContainerResources', containerId, signal)
  const body = computeResources(linux)
  if (Object.keys(body).length > 0)
    await api.json({ method: 'POST', path: `/containers/${container.Id}/update`, body }, signal)
  return {}
}

/** Docker rotates its logs itself, so there is nothing to open again; a link that is gone is made again. */
export async function reopenContainerLog(
  deps: DockerDeps,
  { containerId }: CriRequest<'reopenContainerLog'>,
  signal: AbortSignal,
): Promise<CriResponse<'reopenContainerLog'>> {
  const container = await requireContainer(deps.api, 'reopenContainerLog', containerId, signal)
  if (!container.State.Running) throw new CriCallError('reopenContainerLog', 'Unknown', 'container is not running')
  await linkLog(deps, container, signal)
  return {}
}

import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { ContainerState } from '../../cri/generated/runtime-v1.ts'
import type { DNSConfig, PodSandboxConfig } from '../../cri/generated/runtime-v1.ts'
import { CniError } from '../../cni/cni-error.ts'
import { DockerError, unlessMissing } from '../api/docker-error.ts'
import type { InspectedContainer } from '../api/docker-types.ts'
import { computeSandbox } from '../create/compute-sandbox.ts'
import { SANDBOX_TYPE, TYPE_LABEL } from '../create/docker-labels.ts'
import { parseDockerName, SANDBOX_NAME } from '../create/docker-names.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { stateOf } from '../read/to-container.ts'
import { addressesOf, isOnOwnNetwork, toSandbox, toSandboxStatus } from '../read/to-sandbox.ts'
import { createNamed, removeForced } from './create-named.ts'
import { endLostStart, endLostStarts } from './end-lost-start.ts'
import { findPauseImage } from './image-calls.ts'
import { inspect, listByLabels, listInSandbox } from './inspect.ts'
import { requireRuntime } from './runtime-calls.ts'

const STOP_SECONDS = 10

/** Makes the container that holds the namespaces of a pod, and its network with it. */
export async function runPodSandbox(
  deps: DockerDeps,
  { config, runtimeHandler }: CriRequest<'runPodSandbox'>,
  signal: AbortSignal,
): Promise<CriResponse<'runPodSandbox'>> {
  const { api, daemon, files, networks } = deps
  if (config?.metadata === undefined) throw new CriCallError('runPodSandbox', 'InvalidArgument', 'the pod has no name')
  const { name: pod, namespace, uid, attempt } = config.metadata
  const info = await daemon.info(signal)
  const runtime = requireRuntime(info, runtimeHandler)
  const pauseImage = await findPauseImage(deps, signal)
  const body = computeSandbox(config, {
    pauseImage,
    cgroupDriver: info.CgroupDriver ?? '',
    leastOomScore: files.leastOomScore(),
    ownNetwork: networks?.enabled === true,
    runtime,
  })
  const id = await createNamed(deps, { container: SANDBOX_NAME, pod, namespace, uid, attempt }, body, signal)
  using _ = networks?.begin(id)
  try {
    await api.json({ method: 'POST', path: `/containers/${id}/start` }, signal)
    const sandbox = await inspect(api, id, SANDBOX_TYPE, signal)
    if (sandbox !== undefined) {
      await writeResolvConf(deps, sandbox, config)
      await setUpNetwork(deps, sandbox, config, signal)
      await deps.hairpins?.ensure(sandbox)
    }
  } catch (error) {
    // Nothing is left of a sandbox that could not be made, as with other runtimes. What Docker did not answer, it may still do.
    if (error instanceof DockerError || error instanceof CniError) await undo(deps, id, signal)
    throw error
  }
  return { podSandboxId: id }
}

async function setUpNetwork(
  { files, networks }: DockerDeps,
  sandbox: InspectedContainer,
  config: PodSandboxConfig,
  signal: AbortSignal,
): Promise<void> {
  if (networks === undefined || !isOnOwnNetwork(sandbox)) return
  const { Id: id, State: state } = sandbox
  const namespace = await files.findNetworkNamespace(state.Pid, id)
  if (namespace === '') throw new CniError(`cannot find network namespace for the terminated container "${id}"`)
  await networks.setUp(id, { namespace, config }, signal)
}

/** A sandbox whose network cannot be taken down now stays, ended: the agent finds it and tries again. */
async function undo(deps: DockerDeps, id: string, signal: AbortSignal): Promise<void> {
  try {
    const sandbox = await inspect(deps.api, id, SANDBOX_TYPE, signal)
    if (sandbox !== undefined) await tearDownNetwork(deps, sandbox, signal)
    await removeForced(deps, id, signal)
  } catch (error) {
    deps.log.warn('cannot remove a sandbox that could not be made', { sandbox: id, error })
    await stop(deps, id, 0, signal).catch(() => {})
  }
}

/** Takes down what plugins set up; they get to it while the namespace is still there. */
async function tearDownNetwork(
  { files, networks }: DockerDeps,
  sandbox: InspectedContainer,
  signal: AbortSignal,
): Promise<void> {
  if (networks === undefined || !isOnOwnNetwork(sandbox)) return
  const { pod: name = '', namespace = '', uid = '' } = parseDockerName(sandbox.Name) ?? {}
  const path = await files.findNetworkNamespace(sandbox.State.Pid, sandbox.Id)
  await networks.tearDown(sandbox.Id, path, { name, namespace, uid }, signal)
}

/** Docker made a resolver file of its own, which all containers of the sandbox share. */
async function writeResolvConf(
  { files }: DockerDeps,
  { ResolvConfPath: path = '' }: InspectedContainer,
  { dnsConfig }: PodSandboxConfig,
): Promise<void> {
  const text = dnsConfig === undefined ? '' : formatResolvConf(dnsConfig)
  if (text !== '' && path !== '') await files.writeInPlace(path, text)
}

/** Nothing is asked for: what Docker wrote stays. */
function formatResolvConf({ servers, searches, options }: DNSConfig): string {
  return [
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}\n`]),
    ...servers.map((server) => `nameserver ${server}\n`),
    ...(options.length === 0 ? [] : [`options ${options.join(' ')}\n`]),
  ].join('')
}

/** Ends what runs in a sandbox, and then the sandbox. One that is gone is stopped. */
export async function stopPodSandbox(
  deps: DockerDeps,
  { podSandboxId }: CriRequest<'stopPodSandbox'>,
  signal: AbortSignal,
): Promise<CriResponse<'stopPodSandbox'>> {
  const { api } = deps
  const sandbox = await inspect(api, podSandboxId, SANDBOX_TYPE, signal)
  if (sandbox === undefined) return {}
  const containers = await listInSandbox(api, sandbox.Id, signal)
  const running = containers.filter(({ State: state }) => state === 'running' || state === 'paused')
  await Promise.all(running.map(({ Id: id }) => stop(deps, id, 0, signal)))
  await endLostStarts(deps, containers, signal)
  await tearDownNetwork(deps, sandbox, signal)
  await endLostStart(deps, sandbox, signal)
  // One that was never ready goes at once: Docker would still show it as running when it learns late of a start that it lost.
  if (stateOf(sandbox) === ContainerState.CONTAINER_CREATED && containers.length === 0)
    await removeForced(deps, sandbox.Id, signal)
  else await stop(deps, sandbox.Id, STOP_SECONDS, signal)
  return {}
}

async function stop({ api }: DockerDeps, id: string, seconds: number, signal: AbortSignal): Promise<void> {
  const query = { t: String(seconds) }
  await unlessMissing(api.json({ method: 'POST', path: `/containers/${id}/stop`, query }, signal))
}

/** Removes a sandbox with all that is in it; one that is gone is removed. */
export async function removePodSandbox(
  deps: DockerDeps,
  { podSandboxId }: CriRequest<'removePodSandbox'>,
  signal: AbortSignal,
): Promise<CriResponse<'removePodSandbox'>> {
  const sandbox = await inspect(deps.api, podSandboxId, SANDBOX_TYPE, signal)
  const id = sandbox?.Id ?? podSandboxId
  if (id === '') return {}
  deps.hairpins?.forget(id)
  const containers = await listInSandbox(deps.api, id, signal)
  await endLostStarts(deps, containers, signal)
  await Promise.all(containers.map((container) => removeForced(deps, container.Id, signal)))
  if (sandbox === undefined) return {}
  // One that was not stopped before.
  if ((await deps.networks?.hasRecord(id)) === true) await tearDownNetwork(deps, sandbox, signal)
  await endLostStart(deps, sandbox, signal)
  await removeForced(deps, id, signal)
  return {}
}

export async function podSandboxStatus(
  deps: DockerDeps,
  { podSandboxId, verbose }: CriRequest<'podSandboxStatus'>,
  signal: AbortSignal,
): Promise<CriResponse<'podSandboxStatus'>> {
  const sandbox = await inspect(deps.api, podSandboxId, SANDBOX_TYPE, signal)
  // One that an earlier agent made, before it knew of this.
  if (sandbox !== undefined) await deps.hairpins?.ensure(sandbox)
  const { DefaultRuntime: defaultRuntime = '' } = await deps.daemon.info(signal)
  const status = sandbox && toSandboxStatus(sandbox, { ips: await readAddresses(deps, sandbox), defaultRuntime })
  if (status === undefined)
    throw new CriCallError(
      'podSandboxStatus',
      'NotFound',
      `an error occurred when try to find sandbox "${podSandboxId}": not found`,
    )
  const info = verbose && sandbox !== undefined ? { info: JSON.stringify({ pid: sandbox.State.Pid }) } : {}
  return { status, info, containersStatuses: [], timestamp: 0n }
}

/** Undefined for a sandbox whose network was not set up to the end. */
async function readAddresses(
  { files, networks, end }: DockerDeps,
  sandbox: InspectedContainer,
): Promise<readonly string[] | undefined> {
  if (networks === undefined || !isOnOwnNetwork(sandbox)) return addressesOf(sandbox)
  const addresses = await networks.addresses(sandbox.Id)
  const namespace = await files.findNetworkNamespace(sandbox.State.Pid, sandbox.Id)
  if (addresses !== undefined && namespace !== '') networks.check(sandbox.Id, namespace, end)
  return addresses
}

export async function listPodSandbox(
  deps: DockerDeps,
  { filter }: CriRequest<'listPodSandbox'>,
  signal: AbortSignal,
): Promise<CriResponse<'listPodSandbox'>> {
  const { api, networks } = deps
  const isWhole = filter === undefined
  const attached = isWhole ? await networks?.listAttached() : undefined
  const listed = await listByLabels(api, { [TYPE_LABEL]: SANDBOX_TYPE, ...filter?.labelSelector }, signal)
  const sandboxes = await Promise.all(
    listed
      .filter(({ Id: id }) => networks?.isUnderWay(id) !== true)
      .map(async (one) => {
        const hasNetwork = networks === undefined || !isOnOwnNetwork(one) || (await networks.hasRecord(one.Id))
        return toSandbox(one, hasNetwork)
      }),
  )
  if (attached !== undefined && attached.length > 0) {
    const present = new Set(listed.map(({ Id: id }) => id))
    // No caller waits for it: what does not work is tried again after the next list.
    void networks?.sweep(attached, present, deps.end).catch(() => {})
  }
  const items = sandboxes
    .filter((sandbox) => sandbox !== undefined)
    .filter(({ id, state }) => {
      if (!id.startsWith(filter?.id ?? '')) return false
      return filter?.state === undefined || state === filter.state.state
    })
  return { items }
}

/** Is a sandbox there and ready? */
export async function requireReadySandbox(
  { api }: DockerDeps,
  id: string,
  signal: AbortSignal,
): Promise<InspectedContainer> {
  const sandbox = await inspect(api, id, SANDBOX_TYPE, signal)
  if (sandbox?.State.Running !== true)
    throw new CriCallError('createContainer', 'NotFound', `failed to find sandbox id "${id}": not found`)
  return sandbox
}

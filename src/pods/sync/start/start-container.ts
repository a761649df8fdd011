import { computeContainerConfig, computeContainerEnvironment } from '../../containers/compute-container-config.ts'
import type { ContainerInjections } from '../../containers/container-injections.ts'
import { computeEtcHosts } from '../../containers/network/compute-etc-hosts.ts'
import { computePodHostname } from '../../containers/network/compute-hostname.ts'
import { computeRestartCount } from '../../containers/compute-restart-count.ts'
import { ContainerConfigError } from '../../containers/config-error.ts'
import type { EnvironmentSources } from '../../containers/environment/environment-sources.ts'
import { containerLogSymlink } from '../../containers/log-paths.ts'
import { computePodPaths, terminationLogPath } from '../../containers/pod-paths.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { ContainerConfig, ImageSpec } from '../../../protocols/cri/generated/runtime-v1.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import type { KindedContainer } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import type { ApplySignals } from '../apply-signals.ts'
import type { PodSandboxInUse } from './create-sandbox.ts'
import type { LocalImage, PodRuntime } from '../pod-runtime.ts'
import { startPriority } from '../decide/start-priority.ts'
import { removeContainer } from '../stop/remove-container.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

export interface StartRequest {
  readonly pod: Pod
  readonly kinded: KindedContainer
  readonly image: LocalImage
  readonly sandbox: PodSandboxInUse
  readonly observed: ObservedPod
  /** By name; of the volumes that the container mounts those whose content the runtime brings. */
  readonly imageVolumes: ReadonlyMap<string, ImageSpec>
}

/** Makes one instance of a container, starts it and returns its id. Fails with a StartError whose reason users see. */
export async function startContainer(
  runtime: PodRuntime,
  request: StartRequest,
  { superseded, shutdown }: ApplySignals,
): Promise<string> {
  const { pod, kinded } = request
  try {
    // Outside the turnstile: a volume that hangs here must not keep other pods out.
    const config = await prepareContainer(runtime, request, superseded)
    const createAndStart = () => runContainer(runtime, { ...request, config }, shutdown)
    return await runtime.starts.pass(startPriority(pod, 'container'), createAndStart, superseded)
  } catch (error) {
    if (error instanceof StartError) {
      const fieldPath = containerFieldPath(kinded.kind, kinded.container.name)
      runtime.events.record(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${error.message}`, fieldPath })
    }
    throw error
  }
}

async function runContainer(
  runtime: PodRuntime,
  request: StartRequest & { readonly config: ContainerConfig },
  signal: AbortSignal,
): Promise<string> {
  const { pod, kinded, sandbox, config } = request
  const fieldPath = containerFieldPath(kinded.kind, kinded.container.name)
  await removeNeverStarted(runtime, request, signal)
  const { containerId } = await inStep('CreateContainerError', () =>
    runtime.calls.createContainer({ podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config }, signal),
  )
  runtime.events.record(pod, { type: 'Normal', reason: 'Created', message: 'Container created', fieldPath })
  await inStep('RunContainerError', () => runtime.calls.startContainer({ containerId }, signal))
  runtime.events.record(pod, { type: 'Normal', reason: 'Started', message: 'Container started', fieldPath })
  await linkLog(runtime, request, { containerId, logPath: config.logPath })
  return containerId
}

/** The link serves log collectors only: a container that runs is not at fault when it cannot be made. */
async function linkLog(
  runtime: PodRuntime,
  { pod, kinded, sandbox }: StartRequest,
  { containerId, logPath }: { readonly containerId: string; readonly logPath: string },
): Promise<void> {
  const link = containerLogSymlink(pod, kinded.container.name, containerId)
  try {
    await runtime.files.linkLog(link, `${sandbox.config.logDirectory}/${logPath}`)
  } catch (error) {
    runtime.log.warn('cannot link the log of a container', { pod: podLogName(pod), uid: pod.metadata.uid, link, error })
  }
}

/** An instance that was made and never started (the agent died in between) makes way, and its number is used again. */
async function removeNeverStarted(
  runtime: PodRuntime,
  { pod, observed, kinded }: StartRequest,
  signal: AbortSignal,
): Promise<void> {
  const newest = newestInstance(observed, kinded.container.name)
  if (newest?.state !== 'created') return
  const { uid } = pod.metadata
  await inStep('CreateContainerError', () => removeContainer(runtime, { uid, id: newest.id }, signal))
}

/** Whatever keeps the container from being described, such as a full disk, is for its users to see. */
async function prepareContainer(
  runtime: PodRuntime,
  request: StartRequest,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  try {
    return await describeContainer(runtime, request, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof ContainerConfigError) throw new StartError(error.reason, error.message, { cause: error })
    const message = errorMessage(error)
    throw new StartError('CreateContainerConfigError', message, { cause: error })
  }
}

async function describeContainer(
  runtime: PodRuntime,
  request: StartRequest,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { pod, kinded, sandbox, observed } = request
  const { container } = kinded
  // Before any file is made: what is missing may stay so for many tries.
  const sources = await runtime.readEnvironment({ pod, container }, signal)
  const { noteStep } = runtime
  const injections = await runtime.injections.containerInjections({ pod, container, noteStep }, signal)
  const volumes = await mountVolumes(runtime, { ...request, sources, injections }, signal)
  const paths = computePodPaths(runtime.node.rootDirectory, pod.metadata.uid)
  const logs = `${sandbox.config.logDirectory}/${container.name}`
  const random32 = Math.floor(runtime.random() * 2 ** 32)
  const terminationLog = terminationLogPath(paths, container.name, random32)
  await runtime.files.makeDirectories([paths.directory, logs, `${paths.containers}/${container.name}`])
  await runtime.files.writeHosts(
    paths.etcHosts,
    computeEtcHosts({
      pod,
      podIps: sandbox.ips,
      hostname: computePodHostname(pod, runtime.node.sandbox.dns.clusterDomain),
      nodeEtcHosts: pod.spec.hostNetwork === true ? await runtime.files.readNodeHosts() : '',
    }),
  )
  if ((container.terminationMessagePath ?? '') !== '') await runtime.files.makeTerminationLog(terminationLog)
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined
  const cpuset = await runtime.placement.prepare(pod.metadata.uid, container.name)
  return computeContainerConfig({
    pod,
    kinded,
    instance: {
      restartCount: computeNumber(request, await runtime.files.listNames(logs)),
      image: request.image,
      podIps: sandbox.ips,
      mounts: volumes.mounts,
      devices: volumes.devices,
      injections,
      paths,
      random32,
      volumeGroups: runtime.volumes.groups(pod.metadata.uid),
      userNamespace: sandbox.userNamespace,
      targetContainerId: target === undefined ? undefined : newestInstance(observed, target)?.id,
      cpuset,
    },
    node: runtime.node.container,
    sources,
  })
}

async function mountVolumes(
  runtime: PodRuntime,
  {
    pod,
    kinded,
    sandbox,
    imageVolumes,
    sources,
    injections,
  }: StartRequest & { readonly sources: EnvironmentSources; readonly injections: ContainerInjections },
  signal: AbortSignal,
): ReturnType<PodRuntime['volumes']['containerVolumes']> {
  const instance = { podIps: sandbox.ips, injections }
  const input = { pod, kinded, instance, node: runtime.node.container, sources }
  const request = {
    pod,
    container: kinded.container,
    images: imageVolumes,
    environment: () => new Map(computeContainerEnvironment(input).map(({ name, value }) => [name, value])),
    recursiveReadOnlyMounts: runtime.features().handlers.get(sandbox.runtimeHandler)?.recursiveReadOnlyMounts === true,
    noteStep: runtime.noteStep,
  }
  return await runtime.volumes.containerVolumes(request, signal)
}

function computeNumber({ observed, kinded }: StartRequest, logFileNames: readonly string[]): number {
  const newest = newestInstance(observed, kinded.container.name)
  return newest?.state === 'created' ? newest.restartCount : computeRestartCount(newest, logFileNames)
}

/** Gives a failed call of the runtime the reason that belongs to its step. A runtime that is away is not the container's fault. */
async function inStep<T>(reason: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof CriCallError) || error.code === 'Unavailable') throw error
    throw new StartError(error.reason ?? reason, error.detail, { cause: error })
  }
}

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
import type { ContainerConfig, Device, ImageSpec } from '../../../protocols/cri/generated/runtime-v1.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { containerFieldPath } from '../../../model/pod/pod-containers.ts'
import type { KindedContainer } from '../../../model/pod/pod-containers.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import type { ApplySignals } from '../apply-signals.ts'
import type { PodSandboxInUse } from './create-sandbox.ts'
import type { LocalImage } from './request-images.ts'
import { startPriority } from '../decide/start-priority.ts'
import { removeContainer } from '../stop/remove-container.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Turnstile } from '../../../base/async/turnstile.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import type { Container, EphemeralContainer } from '../../../model/generated/core-v1.ts'
import type { RuntimeFeatures } from '../../../model/pod/runtime-features.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { CpusetAssignment } from '../../containers/compute-container-resources.ts'
import type { ContainerMount } from '../../containers/compute-mounts.ts'
import type { NodeSettings } from '../node-settings.ts'
import type { RemoveContainerDeps } from '../stop/remove-container.ts'
import type { PodInjections } from './pod-injections.ts'

export type StartContainerDeps = RemoveContainerDeps & {
  readonly calls: Pick<CriCalls, 'createContainer' | 'startContainer'>
  readonly starts: Pick<Turnstile, 'pass'>
  /** Reads what the environment of a container needs from elsewhere. */
  readonly readEnvironment: (
    request: Pick<KindedContainer, 'container'> & { readonly pod: Pod },
    signal: AbortSignal,
  ) => Promise<EnvironmentSources>
  readonly injections: Pick<PodInjections, 'containerInjections'>
  readonly volumes: ContainerVolumes
  readonly placement: {
    /** The CPUs and memory nodes of a container that is about to be made; undefined when it may use all. */
    prepare(uid: PodUid, container: string): Promise<CpusetAssignment | undefined>
  }
  readonly files: StartFiles
  /** What the runtime can do, as it last reported. */
  readonly features: () => RuntimeFeatures
  readonly node: Pick<NodeSettings, 'rootDirectory' | 'sandbox' | 'container'>
  readonly events: PodEvents
  readonly noteStep: NoteStep
  readonly log: Logger
  readonly random: () => number
}

interface ContainerVolumes {
  /** What one container gets of the pod's volumes; fails with a ContainerConfigError. */
  containerVolumes(
    request: {
      readonly pod: Pod
      readonly container: Container | EphemeralContainer
      /** Volumes whose content the runtime mounts, by name. */
      readonly images: ReadonlyMap<string, ImageSpec>
      readonly environment: () => ReadonlyMap<string, string>
      readonly recursiveReadOnlyMounts: boolean
      readonly noteStep: NoteStep
    },
    signal: AbortSignal,
  ): Promise<{ readonly mounts: readonly ContainerMount[]; readonly devices: readonly Device[] }>
  /** Groups that processes of the pod need for its volumes. */
  groups(uid: PodUid): readonly number[]
}

interface StartFiles {
  /** Makes directories that may be there already. */
  makeDirectories(paths: readonly string[]): Promise<void>
  /** Names of the files in a directory; none when it does not exist. */
  listNames(directory: string): Promise<readonly string[]>
  readNodeHosts(): Promise<string>
  writeHosts(path: string, text: string): Promise<void>
  /** An empty file that any user of the container may write to. */
  makeTerminationLog(path: string): Promise<void>
  /** Does nothing when there is no log file to point at. */
  linkLog(link: string, target: string): Promise<void>
}

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
  deps: StartContainerDeps,
  request: StartRequest,
  { superseded, shutdown }: ApplySignals,
): Promise<string> {
  const { pod, kinded } = request
  try {
    // Outside the turnstile: a volume that hangs here must not keep other pods out.
    const config = await prepareContainer(deps, request, superseded)
    const createAndStart = () => runContainer(deps, { ...request, config }, shutdown)
    return await deps.starts.pass(startPriority(pod, 'container'), createAndStart, superseded)
  } catch (error) {
    if (error instanceof StartError) {
      const fieldPath = containerFieldPath(kinded.kind, kinded.container.name)
      deps.events.record(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${error.message}`, fieldPath })
    }
    throw error
  }
}

async function runContainer(
  deps: StartContainerDeps,
  request: StartRequest & { readonly config: ContainerConfig },
  signal: AbortSignal,
): Promise<string> {
  const { pod, kinded, sandbox, config } = request
  const fieldPath = containerFieldPath(kinded.kind, kinded.container.name)
  await removeNeverStarted(deps, request, signal)
  const { containerId } = await inStep('CreateContainerError', () =>
    deps.calls.createContainer({ podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config }, signal),
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
  { pod, kinded, sandbox }: StartRequest,
  { containerId, logPath }: { readonly containerId: string; readonly logPath: string },
): Promise<void> {
  const link = containerLogSymlink(pod, kinded.container.name, containerId)
  try {
    await deps.files.linkLog(link, `${sandbox.config.logDirectory}/${logPath}`)
  } catch (error) {
    deps.log.warn('cannot link the log of a container', { pod: podLogName(pod), uid: pod.metadata.uid, link, error })
  }
}

/** An instance that was made and never started (the agent died in between) makes way, and its number is used again. */
async function removeNeverStarted(
  deps: StartContainerDeps,
  { pod, observed, kinded }: StartRequest,
  signal: AbortSignal,
): Promise<void> {
  const newest = newestInstance(observed, kinded.container.name)
  if (newest?.state !== 'created') return
  const { uid } = pod.metadata
  await inStep('CreateContainerError', () => removeContainer(deps, { uid, id: newest.id }, signal))
}

/** Whatever keeps the container from being described, such as a full disk, is for its users to see. */
async function prepareContainer(
  deps: StartContainerDeps,
  request: StartRequest,
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

async function describeContainer(
  deps: StartContainerDeps,
  request: StartRequest,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { pod, kinded, sandbox, observed } = request
  const { container } = kinded
  // Before any file is made: what is missing may stay so for many tries.
  const sources = await deps.readEnvironment({ pod, container }, signal)
  const { noteStep } = deps
  const injections = await deps.injections.containerInjections({ pod, container, noteStep }, signal)
  const volumes = await mountVolumes(deps, { ...request, sources, injections }, signal)
  const paths = computePodPaths(deps.node.rootDirectory, pod.metadata.uid)
  const logs = `${sandbox.config.logDirectory}/${container.name}`
  const random32 = Math.floor(deps.random() * 2 ** 32)
  const terminationLog = terminationLogPath(paths, container.name, random32)
  await deps.files.makeDirectories([paths.directory, logs, `${paths.containers}/${container.name}`])
  await deps.files.writeHosts(
    paths.etcHosts,
    computeEtcHosts({
      pod,
      podIps: sandbox.ips,
      hostname: computePodHostname(pod, deps.node.sandbox.dns.clusterDomain),
      nodeEtcHosts: pod.spec.hostNetwork === true ? await deps.files.readNodeHosts() : '',
    }),
  )
  if ((container.terminationMessagePath ?? '') !== '') await deps.files.makeTerminationLog(terminationLog)
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined
  const cpuset = await deps.placement.prepare(pod.metadata.uid, container.name)
  return computeContainerConfig({
    pod,
    kinded,
    instance: {
      restartCount: computeNumber(request, await deps.files.listNames(logs)),
      image: request.image,
      podIps: sandbox.ips,
      mounts: volumes.mounts,
      devices: volumes.devices,
      injections,
      paths,
      random32,
      volumeGroups: deps.volumes.groups(pod.metadata.uid),
      userNamespace: sandbox.userNamespace,
      targetContainerId: target === undefined ? undefined : newestInstance(observed, target)?.id,
      cpuset,
    },
    node: deps.node.container,
    sources,
  })
}

async function mountVolumes(
  deps: StartContainerDeps,
  {
    pod,
    kinded,
    sandbox,
    imageVolumes,
    sources,
    injections,
  }: StartRequest & { readonly sources: EnvironmentSources; readonly injections: ContainerInjections },
  signal: AbortSignal,
): ReturnType<ContainerVolumes['containerVolumes']> {
  const instance = { podIps: sandbox.ips, injections }
  const input = { pod, kinded, instance, node: deps.node.container, sources }
  const request = {
    pod,
    container: kinded.container,
    images: imageVolumes,
    environment: () => new Map(computeContainerEnvironment(input).map(({ name, value }) => [name, value])),
    recursiveReadOnlyMounts: deps.features().handlers.get(sandbox.runtimeHandler)?.recursiveReadOnlyMounts === true,
    noteStep: deps.noteStep,
  }
  return await deps.volumes.containerVolumes(request, signal)
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

import { computeContainerConfig, computeContainerEnvironment } from '../../containers/compute-container-config.ts'
import type { CpusetAssignment } from '../../containers/compute-container-resources.ts'
import type { ContainerInjections } from '../../containers/container-injections.ts'
import { computeRestartCount } from '../../containers/compute-restart-count.ts'
import type { EnvironmentSources } from '../../containers/environment/environment-sources.ts'
import { computeEtcHosts } from '../../containers/network/compute-etc-hosts.ts'
import { computePodHostname } from '../../containers/network/compute-hostname.ts'
import { computePodPaths, terminationLogPath } from '../../containers/pod-paths.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { PodContainer } from '../../../model/pod/pod-containers.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { RuntimeFeatures } from '../../../model/pod/runtime-features.ts'
import type { ContainerConfig, ImageSpec } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { NodeSettings } from '../node-settings.ts'
import type { PodSandboxInUse } from './create-sandbox.ts'
import type { PodInjections } from './pod-injections.ts'
import type { LocalImage } from './request-images.ts'
import type { ContainerVolumes, ContainerVolumesRequest } from '../../containers/container-volumes.ts'

export interface DescribeContainerDeps {
  /** Reads what the environment of a container needs from elsewhere. */
  readonly readEnvironment: (
    request: Pick<PodContainer, 'container'> & { readonly pod: Pod },
    signal: AbortSignal,
  ) => Promise<EnvironmentSources>
  readonly injections: Pick<PodInjections, 'containerInjections'>
  readonly volumes: PodVolumes
  readonly placement: {
    /** The CPUs and memory nodes of a container that is about to be made; undefined when it may use all. */
    prepare(uid: PodUid, container: string): Promise<CpusetAssignment | undefined>
  }
  readonly files: DescribeFiles
  /** What the runtime can do, as it last reported. */
  readonly features: () => RuntimeFeatures
  readonly node: Pick<NodeSettings, 'rootDirectory' | 'sandbox' | 'container'>
  readonly noteStep: NoteStep
  readonly random: () => number
}

interface PodVolumes {
  /** What one container gets of the pod's volumes; fails with a ContainerConfigError. */
  containerVolumes(
    request: ContainerVolumesRequest & { readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<ContainerVolumes>
  /** Groups that processes of the pod need for its volumes. */
  groups(uid: PodUid): readonly number[]
}

interface DescribeFiles {
  /** Makes directories that may be there already. */
  makeDirectories(paths: readonly string[]): Promise<void>
  /** Names of the files in a directory; none when it does not exist. */
  listNames(directory: string): Promise<readonly string[]>
  readNodeHosts(): Promise<string>
  writeHosts(path: string, text: string): Promise<void>
  /** An empty file that any user of the container may write to. */
  makeTerminationLog(path: string): Promise<void>
}

export interface ContainerStartRequest {
  readonly pod: Pod
  readonly podContainer: PodContainer
  readonly image: LocalImage
  readonly sandbox: PodSandboxInUse
  readonly observed: ObservedPod
  /** Of its last instance before the pod ended and came back; undefined when it did not. */
  readonly restartCountBefore: number | undefined
  /** By name; of the volumes that the container mounts those whose content the runtime mounts. */
  readonly imageVolumes: ReadonlyMap<string, ImageSpec>
}

/** All that the runtime has to know to make one instance of a container. Makes the files that it mounts. */
export async function describeContainer(
  deps: DescribeContainerDeps,
  request: ContainerStartRequest,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { pod, podContainer, sandbox, observed } = request
  const { container } = podContainer
  // Before any file is made: what is missing may stay so for many tries.
  const sources = await deps.readEnvironment({ pod, container }, signal)
  const { noteStep } = deps
  const injections = await deps.injections.containerInjections({ pod, container, noteStep }, signal)
  const volumes = await mountVolumes(deps, { ...request, sources, injections }, signal)
  const paths = computePodPaths(deps.node.rootDirectory, pod.metadata.uid)
  const logs = `${sandbox.config.logDirectory}/${container.name}`
  const random32 = Math.floor(deps.random() * 2 ** 32)
  const terminationLog = terminationLogPath(paths, container.name, random32)
  await deps.files.makeDirectories([logs, `${paths.containers}/${container.name}`])
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined
  const hasTerminationLog = (container.terminationMessagePath ?? '') !== ''
  // At once: each of them is many short waits, and a container waits for all.
  const [cpuset, logNames] = await Promise.all([
    deps.placement.prepare(pod.metadata.uid, container.name),
    deps.files.listNames(logs),
    writeHosts(deps, request, paths.etcHosts),
    hasTerminationLog && deps.files.makeTerminationLog(terminationLog),
  ])
  return computeContainerConfig({
    pod,
    podContainer,
    instance: {
      restartCount: computeNumber(request, logNames),
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

async function writeHosts(
  { files, node }: Pick<DescribeContainerDeps, 'files' | 'node'>,
  { pod, sandbox }: Pick<ContainerStartRequest, 'pod' | 'sandbox'>,
  path: string,
): Promise<void> {
  const nodeEtcHosts = pod.spec.hostNetwork === true ? await files.readNodeHosts() : ''
  const hostname = computePodHostname(pod, node.sandbox.dns.clusterDomain)
  await files.writeHosts(path, computeEtcHosts({ pod, podIps: sandbox.ips, hostname, nodeEtcHosts }))
}

async function mountVolumes(
  deps: DescribeContainerDeps,
  {
    pod,
    podContainer,
    sandbox,
    imageVolumes,
    sources,
    injections,
  }: ContainerStartRequest & { readonly sources: EnvironmentSources; readonly injections: ContainerInjections },
  signal: AbortSignal,
): Promise<ContainerVolumes> {
  const instance = { podIps: sandbox.ips, injections }
  const input = { pod, podContainer, instance, node: deps.node.container, sources }
  const request = {
    pod,
    container: podContainer.container,
    images: imageVolumes,
    environment: () => new Map(computeContainerEnvironment(input).map(({ name, value }) => [name, value])),
    recursiveReadOnlyMounts: deps.features().handlers.get(sandbox.runtimeHandler)?.recursiveReadOnlyMounts === true,
    noteStep: deps.noteStep,
  }
  return await deps.volumes.containerVolumes(request, signal)
}

function computeNumber(
  { observed, podContainer, restartCountBefore }: ContainerStartRequest,
  logFileNames: readonly string[],
): number {
  const newest = newestInstance(observed, podContainer.container.name)
  return newest?.state === 'created'
    ? newest.restartCount
    : computeRestartCount(newest, logFileNames, restartCountBefore)
}

import { Signal } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ContainerConfig, Device } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { PodContainer } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { utf8Bytes } from '../../model/text/utf8-bytes.ts'
import { computeContainerAnnotations, containerLabels } from './compute-container-annotations.ts'
import { computeContainerResources } from './compute-container-resources.ts'
import type { ContainerResourceSettings, CpusetAssignment } from './compute-container-resources.ts'
import { computeContainerSecurityContext } from './security/compute-container-security-context.ts'
import type { ContainerSecuritySettings } from './security/compute-container-security-context.ts'
import { computeEnvironment } from './environment/compute-environment.ts'
import type { EnvironmentVariable } from './environment/compute-environment.ts'
import { computeMounts } from './compute-mounts.ts'
import type { ContainerMount } from './compute-mounts.ts'
import type { ContainerInjections } from './container-injections.ts'
import type { UserNamespaceMapping } from '../../model/pod/user-namespace.ts'
import type { ImageUser } from './security/compute-run-as.ts'
import type { EnvironmentSources } from './environment/environment-sources.ts'
import { expandVariables } from './environment/expand-variables.ts'
import { containerLogPath } from './log-paths.ts'
import { terminationLogPath } from './pod-paths.ts'
import type { PodPaths } from './pod-paths.ts'

/** What every container of this node is made with. */
export interface ContainerNodeSettings {
  readonly ips: readonly string[]
  readonly allocatable: ResourceAmounts
  readonly selinuxEnabled: boolean
  /** May a spec choose the signal that a container is stopped with? */
  readonly stopSignals: boolean
  readonly resources: ContainerResourceSettings
  readonly security: ContainerSecuritySettings
}

/** What is known about one instance by the time it is made. */
export interface ContainerInstance {
  readonly restartCount: number
  /** What the runtime calls the image that it has, and the user that the image names. */
  readonly image: ImageUser & { readonly ref: string }
  /** As the pod's status shows them. */
  readonly podIps: readonly string[]
  /** Of volumes, in the order of the spec. */
  readonly mounts: readonly ContainerMount[]
  /** Volumes that it has as block devices. */
  readonly devices: readonly Device[]
  /** What others add, before what the spec has of the same kind. */
  readonly injections: ContainerInjections
  readonly paths: PodPaths
  /** Random for this instance: names the file of its termination message. */
  readonly random32: number
  readonly volumeGroups: readonly number[]
  readonly userNamespace: UserNamespaceMapping | undefined
  readonly targetContainerId: string | undefined
  readonly cpuset: CpusetAssignment | undefined
}

export interface ContainerConfigInput {
  readonly pod: Pod
  readonly podContainer: PodContainer
  readonly instance: ContainerInstance
  readonly node: ContainerNodeSettings
  readonly sources: EnvironmentSources
}

/** The runtime's description of one container instance; throws ContainerConfigError when the spec cannot be met. */
export function computeContainerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, instance, podContainer } = input
  const { container } = podContainer
  const { restartCount, devices, injections } = instance
  const environment = computeContainerEnvironment(input)
  const byName = new Map(environment.map(({ name, value }) => [name, value]))
  const expand = (text: string): string => expandVariables(text, (name) => byName.get(name))
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: imageOf(input),
    command: (container.command ?? []).map(expand),
    args: (container.args ?? []).map(expand),
    workingDir: container.workingDir ?? '',
    envs: environment.map(({ name, value }) => ({ key: name, value: utf8Bytes(value) })),
    mounts: mountsOf(input),
    devices: [...injections.devices, ...devices],
    CDIDevices: injections.cdiDevices.map((name) => ({ name })),
    labels: containerLabels(pod, container.name),
    annotations: { ...injections.annotations, ...computeContainerAnnotations(pod, container, restartCount) },
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: linuxOf(input),
    stopSignal: stopSignalOf(input),
  }
}

function stopSignalOf({ podContainer, node }: ContainerConfigInput): Signal {
  const name = podContainer.container.lifecycle?.stopSignal
  if (name === undefined || !node.stopSignals) return Signal.RUNTIME_DEFAULT
  const key = name.replace('+', 'PLUS').replace('-', 'MINUS')
  return Signal[key as keyof typeof Signal] ?? Signal.RUNTIME_DEFAULT
}

/** The environment of one container instance, in its order. */
export function computeContainerEnvironment({
  pod,
  podContainer,
  instance,
  node,
  sources,
}: Omit<ContainerConfigInput, 'instance'> & {
  readonly instance: Pick<ContainerInstance, 'podIps' | 'injections'>
}): EnvironmentVariable[] {
  return computeEnvironment({
    pod,
    container: podContainer.container,
    podIps: instance.podIps,
    nodeIps: node.ips,
    nodeAllocatable: node.allocatable,
    sources,
    addedVariables: instance.injections.variables,
  })
}

function imageOf({ podContainer, instance }: ContainerConfigInput): ContainerConfig['image'] {
  return {
    image: instance.image.ref,
    userSpecifiedImage: podContainer.container.image ?? '',
    annotations: {},
    runtimeHandler: '',
    imageRef: '',
  }
}

function mountsOf({ pod, podContainer, instance, node }: ContainerConfigInput): ContainerConfig['mounts'] {
  const { name, terminationMessagePath: containerPath = '' } = podContainer.container
  const hostPath = terminationLogPath(instance.paths, name, instance.random32)
  return computeMounts({
    pod,
    podIps: instance.podIps,
    mounts: [...instance.injections.mounts, ...instance.mounts],
    etcHostsPath: instance.paths.etcHosts,
    terminationLog: containerPath === '' ? undefined : { hostPath, containerPath },
    selinuxEnabled: node.selinuxEnabled,
    userNamespace: instance.userNamespace,
  })
}

function linuxOf({ pod, podContainer, instance, node }: ContainerConfigInput): ContainerConfig['linux'] {
  const resources = computeContainerResources({ pod, podContainer, cpuset: instance.cpuset, settings: node.resources })
  return {
    // A new container has no quota that would have to be lifted, and crun 1.8 fails to do so on cgroup v1.
    resources: { ...resources, cpuQuota: resources.cpuQuota < 0n ? 0n : resources.cpuQuota },
    securityContext: computeContainerSecurityContext({
      pod,
      podContainer,
      image: instance.image,
      userNamespace: instance.userNamespace,
      targetContainerId: instance.targetContainerId,
      volumeGroups: instance.volumeGroups,
      settings: node.security,
    }),
  }
}

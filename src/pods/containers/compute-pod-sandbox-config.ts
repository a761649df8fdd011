import { SecurityProfile_ProfileType as ProfileType } from '../../protocols/cri/generated/runtime-v1.ts'
import type {
  LinuxContainerResources,
  LinuxPodSandboxConfig,
  LinuxSandboxSecurityContext,
  PodSandboxConfig,
} from '../../protocols/cri/generated/runtime-v1.ts'
import { podCgroupPath } from '../../model/resources/cgroup-names.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import { computePodLimits, computePodRequests, parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { normalSysctlName } from '../../model/pod/sysctl-name.ts'
import type { UserNamespaceMapping } from '../../model/pod/user-namespace.ts'
import { podLabels } from './compute-container-annotations.ts'
import { computeDnsConfig } from './network/compute-dns-config.ts'
import type { DnsSettings, DnsWarning } from './network/compute-dns-config.ts'
import type { ResolvConf } from './network/parse-resolv-conf.ts'
import { computeSandboxHostname } from './network/compute-hostname.ts'
import { NO_LINUX_RESOURCES, computeCpuAndMemory } from './compute-cpu-and-memory.ts'
import type { CpuQuotaSettings } from './compute-cpu-and-memory.ts'
import { computeNamespaceOptions } from './security/compute-namespace-options.ts'
import { computePortMappings } from './network/compute-port-mappings.ts'
import { podLogDirectory } from './log-paths.ts'
import { extraVolumeGroups, supplementalGroupsPolicy, toSelinuxOption } from './security/pod-security.ts'

/** What every sandbox of this node is made with. */
export interface SandboxNodeSettings {
  readonly podLogsDirectory: string
  readonly dns: DnsSettings
  readonly cgroups: CgroupLayout
  readonly cpu: CpuQuotaSettings
  /** The path of a seccomp profile for the sandbox's own process; undefined is the one of the runtime. */
  readonly seccompProfile: string | undefined
}

/** What is known about one sandbox by the time it is made. */
export interface SandboxInstance {
  readonly attempt: number
  readonly userNamespace: UserNamespaceMapping | undefined
  readonly volumeGroups: readonly number[]
  /** What the node's resolver file says; undefined when the configuration names none. */
  readonly resolver: ResolvConf | undefined
}

export interface PodSandboxPlan {
  readonly config: PodSandboxConfig
  /** What could not be given as asked; events on the pod. */
  readonly warnings: readonly DnsWarning[]
}

/** The runtime's description of a pod's sandbox; throws SandboxConfigError when the spec cannot be met. */
export function computePodSandboxConfig(
  pod: Pod,
  instance: SandboxInstance,
  settings: SandboxNodeSettings,
): PodSandboxPlan {
  const { name, namespace, uid, labels, annotations } = pod.metadata
  const dns = computeDnsConfig(pod, { ...settings.dns, host: instance.resolver })
  const config = {
    metadata: { name, namespace, uid, attempt: instance.attempt },
    hostname: computeSandboxHostname(pod, settings.dns.clusterDomain),
    logDirectory: podLogDirectory(settings.podLogsDirectory, pod),
    dnsConfig: dns.config,
    portMappings: computePortMappings(pod),
    labels: { ...labels, ...podLabels(pod) },
    annotations: { ...annotations },
    linux: computeLinux(pod, instance, settings),
  }
  return { config, warnings: dns.warnings }
}

function computeLinux(pod: Pod, instance: SandboxInstance, settings: SandboxNodeSettings): LinuxPodSandboxConfig {
  const sysctls = pod.spec.securityContext?.sysctls ?? []
  return {
    cgroupParent: podCgroupPath(pod, settings.cgroups),
    sysctls: Object.fromEntries(sysctls.map(({ name, value }) => [normalSysctlName(name), value])),
    securityContext: computeSecurityContext(pod, instance, settings),
    resources: computeResources(pod, settings.cpu),
    overhead: computeOverhead(pod, settings.cpu),
  }
}

function computeSecurityContext(
  pod: Pod,
  instance: SandboxInstance,
  { seccompProfile }: SandboxNodeSettings,
): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup, fsGroup, supplementalGroups = [], seLinuxOptions } = pod.spec.securityContext ?? {}
  const groups = [
    ...(fsGroup === undefined ? [] : [fsGroup]),
    ...extraVolumeGroups(pod, instance.volumeGroups),
    ...supplementalGroups,
  ]
  return {
    privileged: allContainers(pod).some(({ container }) => container.securityContext?.privileged === true),
    // The sandbox's own process never needs more than this.
    seccomp:
      seccompProfile === undefined
        ? { profileType: ProfileType.RuntimeDefault, localhostRef: '' }
        : { profileType: ProfileType.Localhost, localhostRef: seccompProfile },
    seccompProfilePath: '',
    apparmor: undefined,
    readonlyRootfs: false,
    runAsUser: runAsUser === undefined ? undefined : { value: BigInt(runAsUser) },
    runAsGroup: runAsGroup === undefined ? undefined : { value: BigInt(runAsGroup) },
    supplementalGroups: groups.map(BigInt),
    supplementalGroupsPolicy: supplementalGroupsPolicy(pod),
    selinuxOptions: toSelinuxOption(seLinuxOptions),
    namespaceOptions: computeNamespaceOptions(pod, instance.userNamespace),
  }
}

function computeResources(pod: Pod, settings: CpuQuotaSettings): LinuxContainerResources {
  const requests = computePodRequests(pod, { overhead: false })
  const limits = computePodLimits(pod, { overhead: false })
  return computeCpuAndMemory(
    { cpuRequest: requests.get('cpu'), cpuLimit: limits.get('cpu'), memoryLimit: limits.get('memory') },
    settings,
  )
}

/** What the runtime itself needs beside the containers of the pod. */
export function computeOverhead(pod: Pod, settings: CpuQuotaSettings): LinuxContainerResources {
  if (pod.spec.overhead === undefined) return NO_LINUX_RESOURCES
  const overhead = parseAmounts(pod.spec.overhead)
  return computeCpuAndMemory(
    { cpuRequest: overhead.get('cpu'), cpuLimit: overhead.get('cpu'), memoryLimit: overhead.get('memory') },
    settings,
  )
}

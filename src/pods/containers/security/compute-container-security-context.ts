import { NamespaceMode } from '../../../protocols/cri/generated/runtime-v1.ts'
import type {
  Capability,
  LinuxContainerSecurityContext,
  NamespaceOption,
} from '../../../protocols/cri/generated/runtime-v1.ts'
import type { Capabilities, SecurityContext } from '../../../model/generated/core-v1.ts'
import type { PodContainer } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { computeNamespaceOptions } from './compute-namespace-options.ts'
import type { UserNamespaceMapping } from '../../../model/pod/user-namespace.ts'
import { computeRunAs } from './compute-run-as.ts'
import type { ImageUser } from './compute-run-as.ts'
import { computeAppArmorProfile, computeSeccompProfile } from './compute-security-profiles.ts'
import type { SeccompSettings } from './compute-security-profiles.ts'
import { ContainerConfigError } from '../pod-config-error.ts'
import { extraVolumeGroups, supplementalGroupsPolicy, toSelinuxOption } from './pod-security.ts'

export interface ContainerSecuritySettings extends SeccompSettings {
  /** The thermal_throttle directories that exist on this node; they would let containers learn about each other. */
  readonly thermalThrottlePaths: readonly string[]
}

export interface ContainerSecurityInput {
  readonly pod: Pod
  readonly podContainer: PodContainer
  readonly image: ImageUser
  readonly userNamespace: UserNamespaceMapping | undefined
  /** The instance whose processes an ephemeral container sees. */
  readonly targetContainerId: string | undefined
  /** Groups that the pod's volumes belong to. */
  readonly volumeGroups: readonly number[]
  readonly settings: ContainerSecuritySettings
}

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

/** Who a container is and what it may do; its own word counts before the pod's. */
export function computeContainerSecurityContext(input: ContainerSecurityInput): LinuxContainerSecurityContext {
  const { pod, podContainer, settings } = input
  const { container } = podContainer
  const own: SecurityContext = container.securityContext ?? {}
  const unmasked = own.procMount === 'Unmasked'
  return {
    ...computeRunAs(pod, container, input.image),
    ...computeAppArmorProfile(pod, container),
    capabilities: toCapability(own.capabilities),
    privileged: own.privileged === true,
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    supplementalGroups: supplementalGroups(pod, input.volumeGroups),
    supplementalGroupsPolicy: supplementalGroupsPolicy(pod),
    selinuxOptions: toSelinuxOption(own.seLinuxOptions ?? pod.spec.securityContext?.seLinuxOptions),
    seccomp: computeSeccompProfile(pod, container, settings),
    seccompProfilePath: '',
    maskedPaths: unmasked ? [] : [...MASKED_PATHS, ...settings.thermalThrottlePaths],
    readonlyPaths: unmasked ? [] : READONLY_PATHS,
    namespaceOptions: namespaceOptions(input),
  }
}

function toCapability(capabilities: Capabilities | undefined): Capability | undefined {
  if (capabilities === undefined) return undefined
  const { add = [], drop = [] } = capabilities
  return { addCapabilities: add, dropCapabilities: drop, addAmbientCapabilities: [] }
}

function supplementalGroups(pod: Pod, volumeGroups: readonly number[]): bigint[] {
  const { fsGroup, supplementalGroups: listed = [] } = pod.spec.securityContext ?? {}
  const own = fsGroup === undefined ? [] : [fsGroup]
  return [...own, ...listed, ...extraVolumeGroups(pod, volumeGroups)].map(BigInt)
}

/** As the sandbox has them; an ephemeral container joins the processes of the one it is there to debug. */
function namespaceOptions(input: ContainerSecurityInput): NamespaceOption {
  const options = computeNamespaceOptions(input.pod, input.userNamespace)
  const target = targetName(input.podContainer)
  if (target === '' || options.pid !== NamespaceMode.CONTAINER) return options
  if (input.targetContainerId === undefined) {
    throw new ContainerConfigError(`Cannot look into container "${target}": it has no instance in this pod`)
  }
  return { ...options, pid: NamespaceMode.TARGET, targetId: input.targetContainerId }
}

function targetName({ kind, container }: PodContainer): string {
  if (kind !== 'ephemeral' || !('targetContainerName' in container)) return ''
  return container.targetContainerName ?? ''
}

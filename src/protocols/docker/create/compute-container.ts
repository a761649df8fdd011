import { NamespaceMode, Signal, SupplementalGroupsPolicy } from '../../cri/generated/runtime-v1.ts'
import type { ContainerConfig, LinuxContainerSecurityContext, NamespaceOption } from '../../cri/generated/runtime-v1.ts'
import { hasApi } from '../api/api-version.ts'
import { computeDockerMounts } from './compute-docker-mounts.ts'
import { computeCgroupParent, computeResources } from './compute-resources.ts'
import { computeSecurityOptions } from './compute-security-options.ts'
import { SHM_BYTES } from './compute-sandbox.ts'
import { computeUser } from './compute-user.ts'
import { CONTAINER_TYPE, LOG_PATH_LABEL, SANDBOX_ID_LABEL, toDockerLabels, TYPE_LABEL } from './docker-labels.ts'
import { UnsupportedError } from './unsupported-error.ts'

/** What the machine, Docker and the sandbox say, for a container. */
export interface ContainerSurroundings {
  readonly apiVersion: string
  readonly cgroupDriver: string
  readonly leastOomScore: number
  readonly sandboxId: string
  /** Of the pod, as CRI has it. */
  readonly cgroupParent: string
  readonly hostNetwork: boolean
  /** Empty for Docker's default. */
  readonly runtime: string
  /** As NAME=value. */
  readonly environment: readonly string[]
  /** Where the agent wants the log; empty for nowhere. */
  readonly logPath: string
  readonly logLimits: LogLimits
  /** The content of the seccomp profile that the container names. */
  readonly seccompProfile: string | undefined
}

/** When Docker rotates the log of a container, and how many files it keeps. */
export interface LogLimits {
  /** Negative: never. */
  readonly maxSizeBytes: number
  readonly maxFiles: number
}

const CDI_SINCE = '1.44'

/** A container as Docker is asked for it. */
export function computeContainer(
  config: ContainerConfig,
  surroundings: ContainerSurroundings,
): Record<string, unknown> {
  const context = config.linux?.securityContext
  refuse(context)
  const own = {
    [TYPE_LABEL]: CONTAINER_TYPE,
    [SANDBOX_ID_LABEL]: surroundings.sandboxId,
    [LOG_PATH_LABEL]: surroundings.logPath,
  }
  return {
    Image: config.image?.image ?? '',
    // Empty lists would clear what the image has; a command without arguments must clear the image's.
    ...(config.command.length === 0 ? {} : { Entrypoint: config.command }),
    ...(config.args.length === 0 ? {} : { Cmd: config.args }),
    Env: surroundings.environment,
    ...(config.workingDir === '' ? {} : { WorkingDir: config.workingDir }),
    Tty: config.tty,
    OpenStdin: config.stdin,
    StdinOnce: config.stdinOnce,
    ...stopSignal(config),
    User: computeUser({
      runAsUser: context?.runAsUser,
      runAsUsername: context?.runAsUsername ?? '',
      runAsGroup: context?.runAsGroup,
    }),
    Labels: toDockerLabels(config.labels, config.annotations, own),
    // The pod has probes of its own.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: computeHostConfig(config, surroundings),
  }
}

function computeHostConfig(config: ContainerConfig, surroundings: ContainerSurroundings): Record<string, unknown> {
  const { sandboxId, apiVersion } = surroundings
  const context = config.linux?.securityContext
  const privileged = context?.privileged === true
  return {
    NetworkMode: `container:${sandboxId}`,
    IpcMode: `container:${sandboxId}`,
    PidMode: pidMode(context?.namespaceOptions, sandboxId),
    UTSMode: surroundings.hostNetwork ? 'host' : '',
    CgroupParent: computeCgroupParent(surroundings.cgroupParent, surroundings.cgroupDriver),
    ...computeResources(config.linux?.resources),
    OomScoreAdj: Math.max(Number(config.linux?.resources?.oomScoreAdj ?? 0n), surroundings.leastOomScore),
    ShmSize: SHM_BYTES,
    GroupAdd: (context?.supplementalGroups ?? []).map(String),
    Privileged: privileged,
    ReadonlyRootfs: context?.readonlyRootfs === true,
    CapAdd: context?.capabilities?.addCapabilities ?? [],
    CapDrop: context?.capabilities?.dropCapabilities ?? [],
    SecurityOpt: computeSecurityOptions(
      {
        seccomp: context?.seccomp,
        apparmor: context?.apparmor,
        selinuxOptions: context?.selinuxOptions,
        noNewPrivs: context?.noNewPrivs === true,
        privileged,
      },
      surroundings.seccompProfile,
    ),
    ...(privileged ? {} : { MaskedPaths: context?.maskedPaths ?? [], ReadonlyPaths: context?.readonlyPaths ?? [] }),
    Devices: config.devices.map(({ hostPath, containerPath, permissions }) => ({
      PathOnHost: hostPath,
      PathInContainer: containerPath,
      CgroupPermissions: permissions,
    })),
    ...cdiDevices(config, apiVersion),
    ...computeDockerMounts(config.mounts, apiVersion),
    LogConfig: computeLogConfig(surroundings.logLimits),
    RestartPolicy: { Name: 'no' },
    Init: false,
    ...(surroundings.runtime === '' ? {} : { Runtime: surroundings.runtime }),
  }
}

function refuse(context: LinuxContainerSecurityContext | undefined): void {
  if (context?.supplementalGroupsPolicy === SupplementalGroupsPolicy.Strict)
    throw new UnsupportedError(
      'Cannot use supplementalGroupsPolicy Strict: Docker always adds the groups that the image gives its user',
    )
}

function pidMode(options: NamespaceOption | undefined, sandboxId: string): string {
  switch (options?.pid) {
    case NamespaceMode.NODE:
      return 'host'
    case NamespaceMode.TARGET:
      return `container:${options.targetId}`
    case NamespaceMode.CONTAINER:
      return ''
    default:
      return `container:${sandboxId}`
  }
}

function stopSignal({ stopSignal: signal }: ContainerConfig): { readonly StopSignal?: string } {
  if (signal === Signal.RUNTIME_DEFAULT) return {}
  const name = Object.entries(Signal).find(([, number]) => number === signal)?.[0]
  return name === undefined ? {} : { StopSignal: name.replace('PLUS', '+').replace('MINUS', '-') }
}

function cdiDevices({ CDIDevices }: ContainerConfig, apiVersion: string): Record<string, unknown> {
  if (CDIDevices.length === 0) return {}
  if (!hasApi(apiVersion, CDI_SINCE))
    throw new UnsupportedError('Cannot give the container CDI devices: expected Docker Engine 25 or newer')
  return { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: CDIDevices.map(({ name }) => name) }] }
}

/** Docker writes and rotates the log itself, by the settings of the agent. */
function computeLogConfig({ maxSizeBytes, maxFiles }: LogLimits): Record<string, unknown> {
  const limits = maxSizeBytes < 0 ? {} : { 'max-size': String(maxSizeBytes), 'max-file': String(maxFiles) }
  return { Type: 'json-file', Config: limits }
}

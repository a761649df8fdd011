import { NamespaceMode, Protocol, SupplementalGroupsPolicy } from '../../cri/generated/runtime-v1.ts'
import type { LinuxSandboxSecurityContext, PodSandboxConfig, PortMapping } from '../../cri/generated/runtime-v1.ts'
import { computeCgroupParent } from './compute-resources.ts'
import { computeSecurityOptions } from './compute-security-options.ts'
import { computeUser } from './compute-user.ts'
import { CONTAINER_NAME_LABEL, SANDBOX_TYPE, toDockerLabels, TYPE_LABEL } from './docker-labels.ts'
import { SANDBOX_NAME } from './docker-names.ts'
import { UnsupportedError } from './unsupported-error.ts'

/** What the machine and Docker say, for a sandbox. */
export interface SandboxSurroundings {
  readonly pauseImage: string
  readonly cgroupDriver: string
  /** No process of this machine can get a lower one. */
  readonly leastOomScore: number
  /** Another program than Docker gives pods their network. */
  readonly ownNetwork: boolean
  /** Empty for Docker's default. */
  readonly runtime: string
}

export const SHM_BYTES = 64 * 1024 * 1024
const SANDBOX_OOM_SCORE = -998
const SANDBOX_CPU_SHARES = 2

/** The container that holds a pod's namespaces, as Docker is asked for it. */
export function computeSandbox(config: PodSandboxConfig, surroundings: SandboxSurroundings): Record<string, unknown> {
  const context = config.linux?.securityContext
  const options = context?.namespaceOptions
  refuse(context)
  const hostNetwork = options?.network === NamespaceMode.NODE
  const ports = hostNetwork || surroundings.ownNetwork ? [] : config.portMappings.filter(({ hostPort }) => hostPort > 0)
  const own = { [TYPE_LABEL]: SANDBOX_TYPE, [CONTAINER_NAME_LABEL]: SANDBOX_NAME }
  return {
    Image: surroundings.pauseImage,
    Hostname: hostNetwork ? '' : config.hostname,
    User: computeUser({
      runAsUser: context?.runAsUser,
      runAsUsername: '',
      runAsGroup: context?.runAsUser && context.runAsGroup,
    }),
    Labels: toDockerLabels(config.labels, config.annotations, own),
    ExposedPorts: Object.fromEntries(ports.map((port) => [portKey(port), {}])),
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: hostNetwork ? 'host' : surroundings.ownNetwork ? 'none' : 'default',
      IpcMode: options?.ipc === NamespaceMode.NODE ? 'host' : 'shareable',
      PidMode: options?.pid === NamespaceMode.NODE ? 'host' : '',
      UTSMode: hostNetwork ? 'host' : '',
      PortBindings: bindPorts(ports),
      Sysctls: config.linux?.sysctls ?? {},
      CgroupParent: computeCgroupParent(config.linux?.cgroupParent ?? '', surroundings.cgroupDriver),
      CpuShares: SANDBOX_CPU_SHARES,
      OomScoreAdj: Math.max(SANDBOX_OOM_SCORE, surroundings.leastOomScore),
      ShmSize: SHM_BYTES,
      GroupAdd: (context?.supplementalGroups ?? []).map(String),
      ReadonlyRootfs: context?.readonlyRootfs === true,
      SecurityOpt: computeSecurityOptions(
        {
          seccomp: context?.seccomp,
          apparmor: context?.apparmor,
          selinuxOptions: context?.selinuxOptions,
          noNewPrivs: true,
          // Its process does nothing, also in a pod with privileged containers.
          privileged: false,
        },
        undefined,
      ),
      // Docker must never start by itself what only the agent may start.
      RestartPolicy: { Name: 'no' },
      // A daemon whose default is another one would put an init process above the pause process.
      Init: false,
      ...(surroundings.runtime === '' ? {} : { Runtime: surroundings.runtime }),
    },
  }
}

function refuse(context: LinuxSandboxSecurityContext | undefined): void {
  if (context?.namespaceOptions?.usernsOptions?.mode === NamespaceMode.POD)
    throw new UnsupportedError(
      'Cannot give the pod a user namespace (hostUsers: false): Docker has none for single pods',
    )
  if (context?.supplementalGroupsPolicy === SupplementalGroupsPolicy.Strict)
    throw new UnsupportedError(
      'Cannot use supplementalGroupsPolicy Strict: Docker always adds the groups that the image gives its user',
    )
}

const PROTOCOLS: Readonly<Partial<Record<Protocol, string>>> = { [Protocol.UDP]: 'udp', [Protocol.SCTP]: 'sctp' }

function portKey({ containerPort, protocol }: PortMapping): string {
  return `${containerPort}/${PROTOCOLS[protocol] ?? 'tcp'}`
}

/** One port of the pod may have several of the node. */
function bindPorts(ports: readonly PortMapping[]): Record<string, { HostIp: string; HostPort: string }[]> {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const port of ports) {
    const key = portKey(port)
    bindings[key] = [...(bindings[key] ?? []), { HostIp: port.hostIp, HostPort: String(port.hostPort) }]
  }
  return bindings
}

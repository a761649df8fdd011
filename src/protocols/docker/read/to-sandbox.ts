import { NamespaceMode, PodSandbox, PodSandboxState, PodSandboxStatus } from '../../cri/generated/runtime-v1.ts'
import type { InspectedContainer, ListedContainer } from '../api/docker-types.ts'
import { fromDockerLabels } from '../create/docker-labels.ts'
import { parseDockerName } from '../create/docker-names.ts'
import { parseDockerTime } from './parse-docker-time.ts'

const NANOS_PER_SECOND = 1_000_000_000n
const { SANDBOX_READY, SANDBOX_NOTREADY } = PodSandboxState

/** What Docker calls the network of a container to which it gives none. */
const NO_NETWORK = 'none'
/** And its own bridge: newer releases show the second name for the first. */
const DEFAULT_NETWORKS: ReadonlySet<string> = new Set(['default', 'bridge'])

/** Does another program than Docker give a sandbox its network? */
export function isOnOwnNetwork({ HostConfig: host }: Pick<ListedContainer, 'HostConfig'>): boolean {
  return host?.NetworkMode === NO_NETWORK
}

/** Does it have a port of Docker's own bridge? */
export function isOnBridge({ HostConfig: host }: InspectedContainer): boolean {
  return DEFAULT_NETWORKS.has(host.NetworkMode)
}

/** An entry of the list; undefined for a container that no kubelet made. One that runs without its network is not ready. */
export function toSandbox(listed: ListedContainer, hasNetwork: boolean): PodSandbox | undefined {
  const name = parseDockerName(listed.Names?.[0] ?? '')
  if (name === undefined) return undefined
  const { pod, namespace, uid, attempt } = name
  return PodSandbox.fromPartial({
    id: listed.Id,
    metadata: { name: pod, namespace, uid, attempt },
    state: listed.State === 'running' && hasNetwork ? SANDBOX_READY : SANDBOX_NOTREADY,
    createdAt: BigInt(listed.Created) * NANOS_PER_SECOND,
    ...fromDockerLabels(listed.Labels ?? {}),
  })
}

/** The status of a sandbox with the addresses of its network; undefined for a container that no kubelet made. */
export function toSandboxStatus(
  inspected: InspectedContainer,
  {
    ips,
    defaultRuntime,
  }: {
    /** Undefined when it runs without its network. */
    readonly ips: readonly string[] | undefined
    readonly defaultRuntime: string
  },
): PodSandboxStatus | undefined {
  const name = parseDockerName(inspected.Name)
  if (name === undefined) return undefined
  const { pod, namespace, uid, attempt } = name
  const { NetworkMode: network, PidMode: pid, IpcMode: ipc, Runtime: runtime = '' } = inspected.HostConfig
  const [ip = '', ...additionalIps] = ips ?? []
  return PodSandboxStatus.fromPartial({
    id: inspected.Id,
    metadata: { name: pod, namespace, uid, attempt },
    state: inspected.State.Running && ips !== undefined ? SANDBOX_READY : SANDBOX_NOTREADY,
    createdAt: parseDockerTime(inspected.Created),
    network: { ip, additionalIps: additionalIps.map((more) => ({ ip: more })) },
    linux: {
      namespaces: {
        options: {
          network: network === 'host' ? NamespaceMode.NODE : NamespaceMode.POD,
          pid: pid === 'host' ? NamespaceMode.NODE : NamespaceMode.CONTAINER,
          ipc: ipc === 'host' ? NamespaceMode.NODE : NamespaceMode.POD,
        },
      },
    },
    runtimeHandler: runtime === defaultRuntime ? '' : runtime,
    ...fromDockerLabels(inspected.Config.Labels ?? {}),
  })
}

/** The addresses that Docker's own network gave. */
export function addressesOf({ NetworkSettings: settings }: InspectedContainer): string[] {
  return Object.values(settings?.Networks ?? {})
    .flatMap((network) => [network?.IPAddress ?? '', network?.GlobalIPv6Address ?? ''])
    .filter((address) => address !== '')
}

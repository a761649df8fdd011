import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { containerdPaths } from './runtime/containerd-config.ts'
import type { ContainerdPaths } from './runtime/containerd-config.ts'

/** Where a standalone node keeps its things, and how its things in the kernel are called. */
export interface NodeLayout {
  readonly state: string
  readonly containerd: ContainerdPaths
  readonly manifests: string
  readonly agentConfig: string
  /** Drop-ins of the user over it. */
  readonly settings: string
  readonly agentRoot: string
  readonly certificates: string
  /** Objects, keys and certificates of the Kubernetes API. */
  readonly api: string
  readonly apiLog: string
  readonly controllersLog: string
  /** For people and their kubectl. */
  readonly adminKubeconfig: string
  /** What came from the folder of --apply. */
  readonly applied: string
  /** What is wrong with the files of that folder. */
  readonly appliedProblems: string
  /** The ports of the ingress that cannot be listened on; absent until they were tried. */
  readonly ingressProblems: string
  /** For users who may only read, secrets excepted. */
  readonly readerKubeconfig: string
  /** The port of the page, and the key with which links to it are signed. */
  readonly pageAccess: string
  /** For the agent. */
  readonly agentKubeconfig: string
  /** Where the agent answers root. */
  readonly agentSocket: string
  readonly agentLog: string
  /** What an "up" says that runs detached. */
  readonly upLog: string
  readonly podLogs: string
  /** The data of volumes that were made for claims, a folder for each. */
  readonly volumes: string
  /** Process of the "deckhand up" that runs. */
  readonly upIdentity: string
  readonly agentIdentity: string
  /** The options of "up", for "down" and "status". */
  readonly record: string
  readonly cgroupRoot: string
  readonly bridge: string
  readonly subnet: string
  /** Of pods on a node with both families. */
  readonly subnet6: string
  readonly services: ServiceLayout
}

/** How the node's services are called in the kernel, and where they have their addresses. */
export interface ServiceLayout {
  /** The device that has the addresses of the API and of DNS, and to which the others lead. */
  readonly device: string
  /** The table of nftables. */
  readonly table: string
  /** How the names of our chains begin where there is only iptables; those have at most 28 characters. */
  readonly chainPrefix: string
  /** The one of network policies. */
  readonly policyTable: string
  /** The one that gives pods the address of the node towards the outside. */
  readonly masqueradeTable: string
  /** The same for iptables. The names of chains of services begin otherwise. */
  readonly masqueradePrefix: string
  readonly range: string
  /** The one of IPv6, on a node with both families. */
  readonly range6: string
  readonly apiAddress: string
  readonly dnsAddress: string
}

/** Under which names of services and pods end. */
export const CLUSTER_DOMAIN = 'cluster.local'

const DEFAULT_STATE = '/var/lib/deckhand'

/** The layout of a state folder. Nodes in other folders than the default get names of their own and so never meet. */
export function computeNodeLayout(state: string): NodeLayout {
  const hash = createHash('sha256').update(state).digest()
  const suffix = state === DEFAULT_STATE ? '' : `-${hash.toString('hex').slice(0, 6)}`
  // Of the addresses that everyone may use at home.
  const prefix6 = `fd64:6563:6b68:${suffix === '' ? '' : hash.toString('hex').slice(0, 3)}`
  return {
    state,
    containerd: containerdPaths(`${state}/containerd`),
    manifests: `${state}/manifests`,
    agentConfig: `${state}/kubelet.yaml`,
    settings: `${state}/kubelet.conf.d`,
    agentRoot: `${state}/kubelet`,
    certificates: `${state}/pki`,
    api: `${state}/api`,
    apiLog: `${state}/logs/api.log`,
    controllersLog: `${state}/logs/controllers.log`,
    applied: `${state}/applied.json`,
    appliedProblems: `${state}/applied-problems.json`,
    ingressProblems: `${state}/ingress-problems.json`,
    adminKubeconfig: `${state}/admin.kubeconfig`,
    readerKubeconfig: `${state}/reader.kubeconfig`,
    pageAccess: `${state}/page.json`,
    agentKubeconfig: `${state}/kubelet.kubeconfig`,
    agentSocket: `${state}/kubelet/deckhand/agent.sock`,
    agentLog: `${state}/logs/kubelet.log`,
    upLog: `${state}/logs/up.log`,
    podLogs: `${state}/logs/pods`,
    volumes: `${state}/volumes`,
    upIdentity: `${state}/up.pid`,
    agentIdentity: `${state}/kubelet.pid`,
    record: `${state}/node.json`,
    cgroupRoot: `/deckhand${suffix}`,
    bridge: suffix === '' ? 'deckhand0' : `dh${suffix}`,
    // Away from the ranges that other tools take unasked: 10.42, 10.43, 10.85, 10.88, 10.96, 10.244.
    subnet: suffix === '' ? '10.123.0.0/16' : `10.${128 + ((hash[0] ?? 0) % 64)}.0.0/16`,
    subnet6: `${prefix6}1::/64`,
    services: serviceLayout(suffix, suffix === '' ? '10.124' : `10.${192 + ((hash[1] ?? 0) % 32)}`, `${prefix6}2::`),
  }
}

function serviceLayout(suffix: string, network: string, network6: string): ServiceLayout {
  return {
    device: suffix === '' ? 'deckhand-svc' : `dhs${suffix}`,
    table: `deckhand${suffix}`,
    chainPrefix: suffix === '' ? 'DECKHAND' : `DH${suffix}`,
    policyTable: `deckhand-policies${suffix}`,
    masqueradeTable: `deckhand-masquerade${suffix}`,
    masqueradePrefix: suffix === '' ? 'DECKHANDM' : `DHM${suffix}`,
    range: `${network}.0.0/16`,
    range6: `${network6}/112`,
    apiAddress: `${network}.0.1`,
    dnsAddress: `${network}.0.10`,
  }
}

/** What "reset" removes: all but images, manifests, settings and the record, which has the name of the node. */
export function forgottenPaths(layout: NodeLayout): readonly string[] {
  const kept = [layout.containerd.folder, layout.manifests, layout.settings, layout.record]
  return ownPaths(layout).filter((path) => !kept.includes(path))
}

/** Everything that a node makes in its state folder; the record last, since a folder without it is no node's. */
export function ownPaths(layout: NodeLayout): readonly string[] {
  const { containerd, manifests, agentConfig, agentRoot, certificates, podLogs, upIdentity, agentIdentity } = layout
  const { api, adminKubeconfig, readerKubeconfig, agentKubeconfig } = layout
  const folders = [
    containerd.folder,
    manifests,
    layout.settings,
    agentRoot,
    certificates,
    api,
    dirname(podLogs),
    layout.volumes,
  ]
  const files = [
    agentConfig,
    layout.applied,
    layout.appliedProblems,
    layout.ingressProblems,
    layout.pageAccess,
    adminKubeconfig,
    readerKubeconfig,
    agentKubeconfig,
    upIdentity,
    agentIdentity,
    layout.record,
  ]
  return [...folders, ...files.flatMap((file) => [`${file}.new`, file])]
}

/** Where services and pods have their addresses: a range of each family. */
export function computeRanges({ services, subnet, subnet6 }: NodeLayout, isDualStack: boolean) {
  return {
    serviceRanges: [services.range, ...(isDualStack ? [services.range6] : [])],
    podRanges: [subnet, ...(isDualStack ? [subnet6] : [])],
  }
}

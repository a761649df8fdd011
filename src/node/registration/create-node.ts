import process from 'node:process'
import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { RuntimeStatusReport } from '../../protocols/cri/runtime-status.ts'
import type { Hugepages } from '../../system/machine/hardware/read-hugepages.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { AddressReport } from '../../system/machine/read-node-address.ts'
import type { NodeIdentity } from '../../system/machine/read-node-identity.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { Node, NodeAddress } from '../../model/generated/core-v1.ts'
import { computeInitialNode } from './compute-initial-node.ts'
import { computeNodeHostIps } from './status/compute-node-host-ips.ts'
import { computeNodeAddresses } from './status/compute-node-addresses.ts'
import { computeNodeResources } from './status/compute-node-resources.ts'
import { createNodeApi } from './node-api.ts'
import type { NodeApi } from './node-api.ts'
import type { DeviceInfo, NodeInfo } from './status/node-info.ts'
import type { NodeProfile } from './status/node-profile.ts'
import type { NodeStartup } from './node-startup.ts'
import { NodeSurroundings } from './status/node-surroundings.ts'
import { OwnNodeObject } from './own-node-object.ts'
import { PodCidr } from './status/pod-cidr.ts'
import { runLease } from './run-lease.ts'
import { runNodeStatus } from './status/run-node-status.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import { toNodeProfile } from './status/to-node-profile.ts'

/** How the node reaches its cluster. */
interface NodeCluster {
  /** A client for heartbeats: without a rate limit. */
  readonly client: KubeClient
  /** The own Node object as a watch has it. */
  readonly cachedNode: () => Node | undefined
  /** Closes all connections to the API: it has been silent for too long. */
  readonly dropConnections: () => void
  readonly apiReturn: ApiReturn
}

/** What is read of the machine for the Node object. */
interface NodeHost {
  identity(): NodeIdentity
  hugepages(): readonly Hugepages[]
  readAddress(profile: NodeProfile): Promise<AddressReport>
  readSpace(path: string): Promise<{ readonly capacityBytes: number }>
}

export interface NodeDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly host: NodeHost
  /** Undefined on a node without an API. */
  readonly cluster: NodeCluster | undefined
  readonly calls: Pick<CriCalls, 'listImages' | 'version' | 'updateRuntimeConfig'>
  /** What the runtime said when the agent connected to it. */
  readonly runtime: { readonly name: string; readonly version: string }
  readonly abilities: () => Pick<RuntimeStatusReport, 'handlers' | 'features'>
  readonly pressures: () => NodePressures
  /** Why the node is not ready, the most important first. */
  readonly problems: () => readonly string[]
  /** The names of attached volumes that pods use; undefined while they are not known. */
  readonly volumesInUse: () => readonly string[] | undefined
  /** Devices that plugins provide. */
  readonly devices: () => DeviceInfo
  readonly events: NodeEvents
  readonly startup?: NodeStartup
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

const START_PATIENCE_MS = 500
// Longer than a name lookup usually takes: pods on a node that is reported without its address never learn it.
const ADDRESS_PATIENCE_MS = 12_000

export type OwnNode = Awaited<ReturnType<typeof createNode>>

/** This node in its cluster, or by itself: what it has, what it says, and what keeps that true. Resolves when it knows its surroundings. */
export async function createNode(deps: NodeDeps, signal: AbortSignal) {
  const { settings, host, cluster, clock } = deps
  const profile = toNodeProfile(settings, { architecture: process.arch, runtime: deps.abilities().features })
  const surroundings = new NodeSurroundings({
    ...deps,
    readAddress: () => host.readAddress(profile),
    readStorageBytes: async () => BigInt((await host.readSpace(settings.flags.rootDir)).capacityBytes),
  })
  const info = createInfo(deps, surroundings)
  const ownNode = new OwnNodeObject(cluster?.cachedNode ?? (() => undefined))
  const initial = computeInitialNode(profile)
  const findAddresses = () => {
    const found = computeNodeAddresses({ addresses: [], annotations: {} }, profile, surroundings.address)
    return typeof found === 'string' ? undefined : found.addresses
  }
  const own: OwnParts = { profile, info, ownNode, podCidr: new PodCidr(deps), wakeup: new Wakeup() }
  // A name that cannot be resolved must not delay the start: a late answer is reported when it arrives.
  const known = surroundings.refresh(signal).then(
    () => own.wakeup.wake(),
    () => {}, // The agent leaves.
  )
  await Promise.race([known, clock.sleep(START_PATIENCE_MS, signal)])
  return {
    declaredFeatures: profile.declaredFeatures,

    /** The Node object; while there is none, its name, labels and taints as it would be registered. */
    node: (): Node => ownNode.current ?? initial,

    /** Undefined while none is known. */
    addresses: (): readonly NodeAddress[] | undefined =>
      ownNode.current === undefined ? findAddresses() : ownNode.current.status?.addresses,

    /** What pods may have of the node. */
    allocatable: () => computeNodeResources(ownNode.current?.status ?? {}, profile.resources, info().size).allocatable,

    /** The addresses of the node, at most one of each family: those that the cluster knows, else its own. */
    ips(): readonly string[] {
      const known = computeNodeHostIps(ownNode.current?.status?.addresses)
      if (known.length > 0) return known
      return computeNodeHostIps(findAddresses())
    },

    /** Something about the node has changed: its status is computed now. */
    wake: () => own.wakeup.wake(),

    /** Asks the API for the Node object, past its watch. */
    async refresh(signal: AbortSignal): Promise<void> {
      if (cluster !== undefined) ownNode.note(await createApi(deps, cluster).getNode(signal))
    },

    /** Keeps the Node object and its lease up to date; without a cluster, what is known of the node. */
    async run(signal: AbortSignal): Promise<void> {
      await using group = new TaskGroup(signal)
      group.run('surroundings', (s) => surroundings.run(s))
      group.run('pod addresses', (s) => own.podCidr.run(s))
      if (cluster !== undefined)
        runInCluster(deps, cluster, { ...own, addressSought: surroundings.addressSought }, group)
      else if (settings.config.podCIDR !== '') own.podCidr.set(settings.config.podCIDR)
      await group.join()
    },
  }
}

interface OwnParts {
  readonly profile: NodeProfile
  readonly info: () => NodeInfo
  readonly ownNode: OwnNodeObject
  readonly podCidr: PodCidr
  readonly wakeup: Wakeup
}

function runInCluster(
  deps: NodeDeps,
  cluster: NodeCluster,
  own: OwnParts & { readonly addressSought: Promise<void> },
  group: TaskGroup,
): void {
  const { config, nodeName } = deps.settings
  const { dropConnections, apiReturn } = cluster
  const api = createApi(deps, cluster)
  const status = {
    ...deps,
    ...own,
    api,
    apiReturn,
    dropConnections,
    register: config.registerNode,
    onlyIfExists: deps.settings.gates.enabled('KubeletRegistrationGetOnExistsOnly'),
    updateFrequencyMs: config.nodeStatusUpdateFrequency,
    reportFrequencyMs: config.nodeStatusReportFrequency,
    onPodCidr: (cidrs: string) => own.podCidr.set(cidrs),
  }
  const lease = { ...deps, api, nodeName, dropConnections, durationSeconds: config.nodeLeaseDurationSeconds }
  group.run('node status', async (s) => {
    await waitForAddress(deps.clock, own.addressSought, s)
    await runNodeStatus(status, s)
  })
  group.run('node lease', (s) => runLease(lease, s))
}

async function waitForAddress(clock: Clock, sought: Promise<void>, signal: AbortSignal): Promise<void> {
  using scope = new AbortScope(signal)
  await Promise.race([sought, clock.sleep(ADDRESS_PATIENCE_MS, scope.signal)])
  signal.throwIfAborted()
}

function createApi({ settings, clock }: NodeDeps, { client }: NodeCluster): NodeApi {
  const { nodeStatusUpdateFrequency, nodeLeaseDurationSeconds } = settings.config
  const timeoutMs = Math.min(nodeStatusUpdateFrequency, nodeLeaseDurationSeconds * 1000)
  return createNodeApi({ client, nodeName: settings.nodeName, timeoutMs, clock })
}

function createInfo(deps: NodeDeps, surroundings: NodeSurroundings): () => NodeInfo {
  const { machine, host } = deps
  const identity = host.identity()
  const size = { cpus: machine.onlineCpus.length, memoryBytes: machine.memoryBytes, hugepages: host.hugepages() }
  return () => {
    const { handlers, features } = deps.abilities()
    return {
      identity,
      size: { ...size, devices: deps.devices(), storageBytes: surroundings.storageBytes },
      swapBytes: machine.swapBytes,
      address: surroundings.address,
      runtimeVersion: surroundings.runtimeVersion,
      images: surroundings.images,
      handlers: handlers.map(({ name, features: can }) => ({
        name,
        features: {
          recursiveReadOnlyMounts: can?.recursiveReadOnlyMounts === true,
          userNamespaces: can?.userNamespaces === true,
        },
      })),
      supplementalGroupsPolicy: features?.supplementalGroupsPolicy,
      pressures: deps.pressures(),
      problems: deps.problems(),
      volumesInUse: deps.volumesInUse(),
    }
  }
}

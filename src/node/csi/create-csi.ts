import type { Clock } from '../../base/async/clock.ts'
import type { Loop } from '../../base/async/loop.ts'
import type { CsiDriverObjects } from '../../protocols/csi/csi-driver-objects.ts'
import type { CsiDriverFollowerDeps } from './csi-driver-follower.ts'
import { CsiDriverRegistry } from './csi-driver-registry.ts'
import type { CsiDrivers } from '../../protocols/csi/csi-drivers.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import type { CsiNodeObjects } from './csi-node-objects.ts'
import type { CsiPluginHandlerDeps } from './csi-plugin-handler.ts'
import { noCsiDriverObjects } from '../../protocols/csi/csi-driver-objects.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { PluginHandler } from '../plugins/plugin-handler.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeAttachments } from '../../pods/volumes/csi/csi-volume-deps.ts'
import { WatchedAttachments } from '../../pods/volumes/csi/stage/watched-attachments.ts'

/** The cluster, as far as it has to know of drivers. */
interface CsiCluster extends Pick<CsiDriverFollowerDeps, 'follow'> {
  readonly client: KubeClient
  /** The own Node object as the API last had it. */
  readonly node: () => Node | undefined
  readonly onNode: (listener: () => void) => void
  /** A hint: the API answers. */
  readonly onApiReturn: (listener: () => void) => void
}

export interface CsiDeps {
  /** Undefined on a node without an API: drivers are used all the same, and reported nowhere. */
  readonly cluster: CsiCluster | undefined
  readonly nodeName: string
  /** The reasons why the node is not ready have changed. */
  readonly onChange: () => void
  /** A driver came or went, or the cluster says something else of one. */
  readonly onDrivers: () => void
  readonly metrics: { csiCall(call: DriverCall): void }
  readonly giveUp: (error: Error) => void
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** The CSI drivers of this node. */
export interface Csi {
  readonly drivers: CsiDrivers
  readonly objects: CsiDriverObjects
  readonly attachments: NodeAttachments
  /** Why the node is not ready. */
  problems(): readonly string[]
  /** Resolves when it is known whether the node has reported its drivers before. */
  firstCheck(signal: AbortSignal): Promise<void>
  /** A driver could attach no more volumes to this node: its volume limit is read again. */
  refreshAllocatable(driver: string, signal: AbortSignal): Promise<void>
  /** Takes plugins of the type CSIPlugin into use. */
  readonly handler: PluginHandler
  readonly loops: readonly Loop[]
}

/** The drivers of this node and what its cluster knows of them. */
export async function createCsi(deps: CsiDeps): Promise<Csi> {
  const drivers = new CsiDriverRegistry()
  const reported = deps.cluster && (await reportCluster({ ...deps, ...deps.cluster }, drivers))
  drivers.onChange(() => {
    reported?.allocatable.wake()
    deps.onDrivers()
  })
  const { cluster, clock } = deps
  const attachments = new WatchedAttachments({ node: () => cluster?.node(), clock })
  cluster?.onNode(() => attachments.wake())
  return {
    attachments,
    drivers,
    objects: reported?.follower ?? noCsiDriverObjects,
    problems: () => reported?.node.problems() ?? [],
    firstCheck: async (signal) => await reported?.node.firstCheck(signal),
    refreshAllocatable: async (driver, signal) => await reported?.allocatable.refresh(driver, signal),
    handler: createHandler({ ...deps, registry: drivers, objects: reported?.node }),
    loops: reported?.loops ?? [],
  }
}

/** Loads the codec of CSI's messages with the first driver: most nodes have none. */
function createHandler(
  deps: Pick<CsiDeps, 'metrics' | 'clock'> & Omit<CsiPluginHandlerDeps, 'onCall' | 'clock'>,
): PluginHandler {
  let opening: Promise<PluginHandler> | undefined
  const open = async () => {
    const { CsiPluginHandler } = await import('./csi-plugin-handler.ts')
    return new CsiPluginHandler({ ...deps, onCall: (call) => deps.metrics.csiCall(call) })
  }
  return {
    register: async (plugin, signal) => await (await (opening ??= open())).register(plugin, signal),
    deregister: async (plugin) => await (await opening)?.deregister(plugin),
  }
}

async function reportCluster(deps: CsiDeps & NonNullable<CsiDeps['cluster']>, registry: CsiDriverRegistry) {
  const [{ CsiNodeObjects }, { createCsiNodeApi }, { CsiDriverFollower }, { CsiAllocatable }] = await Promise.all([
    import('./csi-node-objects.ts'),
    import('./csi-node-api.ts'),
    import('./csi-driver-follower.ts'),
    import('./csi-allocatable.ts'),
  ])
  const { client, nodeName } = deps
  const node: CsiNodeObjects = new CsiNodeObjects({ ...deps, api: createCsiNodeApi(client, nodeName) })
  const follower = new CsiDriverFollower({ ...deps, onChange: () => registry.changed() })
  const allocatable = new CsiAllocatable({
    ...deps,
    registry,
    traits: (name) => follower.peek(name),
    objects: node,
  })
  deps.onNode(() => node.nodeSeen(deps.node()))
  deps.onApiReturn(() => node.apiAnswers())
  const loops: readonly Loop[] = [
    { name: 'CSI drivers', run: (s) => follower.run(s) },
    { name: 'CSINode', run: (s) => node.run(s) },
    { name: 'volumes of CSI drivers', run: (s) => allocatable.run(s) },
  ]
  return { node, follower, allocatable, loops }
}

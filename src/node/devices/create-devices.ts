import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { NumaNode } from '../../system/machine/hardware/read-numa-nodes.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Plugin, PluginHandler } from '../plugins/plugin-handler.ts'
import { DeviceAssignments } from './device-assignments.ts'
import { DEVICE_CHECKPOINT } from './device-checkpoint-file.ts'
import { DeviceInventory } from './device-inventory.ts'
import { DevicePlugins } from './device-plugins.ts'
import { DeviceRecord } from './device-record.ts'
import { groupByNode, NO_NODE } from './device.ts'
import type { DevicesByNode } from './device.ts'
import { findNotedDevices } from './find-noted-devices.ts'
import { loadDeviceCheckpoint } from './load-device-checkpoint.ts'
import { PodDevices } from './pod-devices.ts'
import type { HintProvider } from '../placement/hint-provider.ts'
import { runDeviceRegistration } from './run-device-registration.ts'
import type { DeviceMetrics } from '../../metrics/driver-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'

export interface CreateDevicesDeps {
  readonly settings: Pick<Settings, 'gates'>
  readonly rootDirectory: string
  readonly host: { stateFile(path: string): StateFile; numaNodes(): readonly Pick<NumaNode, 'id'>[] }
  /** What the node has is another now: its status is to be reported. */
  readonly onNode: () => unknown
  /** The devices of a pod are well or ill now. */
  readonly onPod: (uid: PodUid) => unknown
  readonly podEvents: PodEvents
  readonly metrics: DeviceMetrics
  readonly clock: Clock
  readonly log: Logger
}

/** Devices of one resource, as the API for monitoring agents shows them. */
interface ReportedDevices {
  readonly resourceName: string
  readonly deviceIds: string[]
  readonly topology?: { readonly nodes: { readonly ID: bigint }[] }
}

export type NodeDevices = Awaited<ReturnType<typeof createDevices>>

const RECORD_RETRY_MS = 10_000

/** The devices of this node: plugins bring them, pods have them, and the node reports them. */
export async function createDevices(deps: CreateDevicesDeps, tasks: TaskGroup) {
  const { settings, host, metrics, clock, log } = deps
  const folder = `${deps.rootDirectory}/device-plugins`
  const file = host.stateFile(`${folder}/${DEVICE_CHECKPOINT}`)
  const loaded = await loadDeviceCheckpoint({ file, log })
  const wakeup = new Wakeup()
  const inventory = new DeviceInventory({
    recorded: loaded.registered.keys(),
    onChange() {
      wakeup.wake()
      deps.onNode()
    },
    clock,
  })
  const assignments = new DeviceAssignments({
    inventory,
    recorded: loaded.entries,
    numaNodes: host.numaNodes().map(({ id }) => id),
    onChange: () => wakeup.wake(),
  })
  const record = new DeviceRecord({ file, inventory, assignments })
  const wakeHolders = (resource: string, ids?: readonly string[]) => {
    for (const each of assignments.list())
      if (each.resource === resource && each.devices.ids.some((id) => ids?.includes(id) ?? true)) deps.onPod(each.uid)
  }
  const plugins = new DevicePlugins({ inventory, onHealth: wakeHolders, metrics, tasks, clock, log })
  const pods = new PodDevices({
    inventory,
    assignments,
    record: () => record.write(),
    reportsHealth: settings.gates.enabled('ResourceHealthStatus'),
    metrics,
    events: deps.podEvents,
    tasks,
    clock,
    log,
  })
  let problem: string | undefined
  return {
    /** What containers get of devices. */
    injections: pods,
    provider: toProvider(assignments, pods),
    handler: toHandler(plugins),

    /** What the node has, for its status. */
    info: () => ({ ...inventory.counts(), areRecorded: loaded.isKnown }),

    /** How many of each resource containers have: the node has at least as many, whatever became of the plugins. */
    takenCounts: (): ReadonlyMap<string, number> =>
      new Map(
        [...new Set(assignments.list().map(({ resource }) => resource))].map((resource) => [
          resource,
          assignments.taken(resource).size,
        ]),
      ),

    /** Learns what runs before anything is wanted: it may have devices of which no record is left. */
    adoptRunning(running: readonly ObservedPod[]): void {
      const found = findNotedDevices(assignments, running)
      if (found.length > 0) log.warn('found devices in use that were not recorded', { devices: found })
    },

    /** The pod runs already: it keeps its devices. */
    adopt: ({ metadata: { uid } }: Pod) => assignments.confirm(uid),

    /** All desired pods have been seen: others need nothing. */
    sourcesReady(isHere: (uid: PodUid) => boolean): void {
      for (const uid of assignments.uids) if (!isHere(uid)) pods.free(uid)
    },

    /** As the API for monitoring agents reports them. */
    devicesOf: (uid: PodUid, container: string): ReportedDevices[] =>
      [...assignments.ofContainer(uid, container)].flatMap(([resource, devices]) =>
        devices.kind === 'given' ? toReportedDevices(resource, devices.byNode) : [],
      ),
    allocatable: (): ReportedDevices[] =>
      inventory.resources.flatMap((resource) => {
        const devices = inventory.devices(resource)
        const healthy = [...devices.values()].filter(({ isHealthy }) => isHealthy).map(({ id }) => id)
        return toReportedDevices(resource, groupByNode(healthy.sort(), devices))
      }),

    /** Why plugins cannot present themselves; undefined when they can. */
    problem: () => problem,

    /** Listens for plugins, and keeps the record true. */
    async run(signal: AbortSignal): Promise<void> {
      await using group = new TaskGroup(signal)
      const onProblem = (reported: string | undefined) => void (problem = reported)
      group.run('registration', (s) => runDeviceRegistration({ folder, plugins, onProblem, clock, log }, s))
      group.run('record', (s) => runRecord({ inventory, record, wakeup, onDropped: wakeHolders, clock, log }, s))
      await group.join()
    },
  }
}

interface RecordDeps {
  readonly inventory: DeviceInventory
  readonly record: DeviceRecord
  readonly wakeup: Wakeup
  readonly onDropped: (resource: string) => void
  readonly clock: Clock
  readonly log: Logger
}

/** Writes down what changed, and gives up plugins that stay away. */
async function runRecord(
  { inventory, record, wakeup, onDropped, clock, log }: RecordDeps,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    for (const resource of inventory.dropAway()) {
      log.warn('device plugin did not come back, the node has none of its devices any more', { resource })
      onDropped(resource)
    }
    let retryMs: number | undefined
    try {
      await record.write()
    } catch (error) {
      log.error('cannot record which devices containers have, will try again', { error })
      retryMs = RECORD_RETRY_MS
    }
    const waits = [retryMs, ...inventory.resources.map((resource) => inventory.patienceMs(resource))]
    const known = waits.filter((ms) => ms !== undefined)
    await wakeup.wait({ clock, ms: known.length === 0 ? undefined : Math.min(...known) }, signal)
  }
}

function toProvider(assignments: DeviceAssignments, pods: PodDevices): HintProvider {
  return {
    hints: (pod, container) => assignments.hints(pod, container),
    podHints: (pod) => assignments.podHints(pod),
    allocate: (pod, container, affinity) => assignments.allocate(pod, container, affinity),
    release: (uid) => pods.free(uid),
  }
}

/** For plugins that present themselves where all plugins do. */
function toHandler(plugins: DevicePlugins): PluginHandler {
  return {
    register: ({ name, endpoint, versions }: Plugin, signal) =>
      plugins.register({ resource: name, socketPath: endpoint, versions }, signal),
    deregister: async ({ name, endpoint }) => plugins.deregister(name, endpoint),
  }
}

/** One for each device and NUMA node. */
function toReportedDevices(resource: string, byNode: DevicesByNode): ReportedDevices[] {
  return [...byNode].flatMap(([node, ids]) =>
    ids.map((id) => ({
      resourceName: resource,
      deviceIds: [id],
      ...(node === NO_NODE ? {} : { topology: { nodes: [{ ID: BigInt(node) }] } }),
    })),
  )
}

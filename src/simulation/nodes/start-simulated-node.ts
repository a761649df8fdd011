import { composeKubelet } from '../../agent/kubelet.ts'
import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { createVerbosity } from '../../base/telemetry/create-logger.ts'
import { createSupervisor } from '../../base/telemetry/create-supervisor.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { DeferredMetrics } from '../../metrics/defer-metrics.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import { createSimulatedHost } from '../machine/create-simulated-host.ts'
import type { Behaviour, SimulationRule } from '../options/simulation-options.ts'
import { createSimulatedClient } from '../runtime/create-simulated-client.ts'
import { SimulatedCri } from '../runtime/simulated-cri.ts'
import type { SimulatedContainer } from '../runtime/simulated-runtime.ts'
import { toNodeAddress, toPodAddress } from './addresses.ts'
import { ContainerBehaviours } from './container-behaviours.ts'
import type { SharedCluster } from './open-shared-cluster.ts'

export interface SimulatedNodeDeps {
  /** With the name of this node. */
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly storage: string
  /** From 0 on; no two nodes have the same. */
  readonly index: number
  readonly cluster: SharedCluster
  readonly rules: readonly SimulationRule[]
  readonly usual: Behaviour
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

export type SimulatedNode = Awaited<ReturnType<typeof startSimulatedNode>>

// They work on the machine that a node does not have here: its files, sockets and processes. The drivers of CSI are of no use without.
const LEFT_OUT: ReadonlySet<string> = new Set([
  'memory',
  'cgroups',
  'devices',
  'servers',
  'node API',
  'plugins',
  'iptables',
  'CSI drivers',
  'volumes of CSI drivers',
  'forgotten shims',
  'termination logs',
  'volume stats',
  'log rotation',
  'node shutdown',
])

/** One node: the agent as it is composed everywhere, with a runtime and a machine that are in memory. It runs until the group ends. */
export async function startSimulatedNode(deps: SimulatedNodeDeps, signal: AbortSignal) {
  const { settings, machine, index, cluster, clock, random, log } = deps
  const behaviours = new ContainerBehaviours(deps)
  const nodeAddress = toNodeAddress(index)
  let pods = 0
  const usageOf = (container: SimulatedContainer) => behaviours.usageOf(container)
  const cri = new SimulatedCri({
    clock,
    programOf: (config, sandbox) => behaviours.programOf(config, sandbox),
    onExec: (container) => ({ exitCode: behaviours.isReady(container) ? 0 : 1 }),
    delays: { pullMs: (image) => behaviours.pullMs(image) },
    usageOf,
    newer: true,
    version: { name: 'simulated', version: '1.0.0' },
    newAddress: () => toPodAddress(index, (pods += 1)),
  })
  const metrics = createUncounted()
  const tasks = new TaskGroup(signal, createSupervisor({ metrics, clock, random, log }))
  const resources = new DisposableStack()
  resources.use(cri)
  const kubelet = await composeKubelet(
    {
      settings,
      machine,
      objects: undefined,
      openFiles: Promise.resolve(0),
      clock,
      log: log.child({ node: settings.nodeName }),
      random,
      loopDelay: { percentile: () => 0 },
      memory: { idleCpuMs: () => 0, residentBytes: () => 0, collectGarbage: () => 0, trimMalloc() {}, unmapCode() {} },
      environment: {},
      workingDirectory: '/',
      write() {},
      verbosity: createVerbosity(0),
      onReady: async () => {},
      giveUp: (error) => log.error('a simulated node gave up', { node: settings.nodeName, error }),
      host: createSimulatedHost({
        name: settings.nodeName,
        address: nodeAddress,
        storage: deps.storage,
        cpus: machine.onlineCpus.length,
        bootedAt: clock.now(),
        runtime: cri.runtime,
        usageOf,
        isAnswering: (address) => behaviours.isAnswering(cri.runtime, address, nodeAddress),
      }),
      metrics,
      connectRuntime: async (options) => createSimulatedClient(cri, options),
      openTracing: async () => undefined,
      join: async (_, group) => {
        const joined = await cluster.join(settings, group)
        return { cluster: joined, membership: joined.membership }
      },
    },
    { tasks, resources },
  )
  for (const { name, run } of [...kubelet.loops, ...kubelet.lateLoops])
    if (!LEFT_OUT.has(name)) tasks.runLoop(name, run)
  return {
    name: settings.nodeName,
    cri,
    registry: kubelet.registry,
    /** The agent leaves, as on a machine: the cluster is not informed. */
    async [Symbol.asyncDispose](): Promise<void> {
      try {
        await tasks[Symbol.asyncDispose]()
      } finally {
        resources.dispose()
      }
    },
  }
}

/** The metrics of one simulated node have no reader. */
function createUncounted(): DeferredMetrics {
  const uncounted = () => {}
  return new Proxy({}, { get: () => uncounted }) as DeferredMetrics
}

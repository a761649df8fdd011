import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { loadConfiguration } from '../../model/config/load-configuration.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import { hostConfigFiles } from '../../system/files/host-config-files.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import { parseRules } from '../options/parse-rules.ts'
import type { Behaviour, SimulationOptions, SimulationRule } from '../options/simulation-options.ts'
import { endNodes } from './end-nodes.ts'
import { forEachOf } from './for-each-of.ts'
import { formatReport, formatRequests } from './format-report.ts'
import type { SimulationState } from './format-report.ts'
import { openSharedCluster } from './open-shared-cluster.ts'
import type { SharedCluster } from './open-shared-cluster.ts'
import { startSimulatedNode } from './start-simulated-node.ts'
import type { SimulatedNode } from './start-simulated-node.ts'

export interface SimulationDeps {
  readonly say: (line: string) => void
  /** What this process has used: milliseconds of processors, and bytes that are in memory. */
  readonly usage: () => { readonly cpuMs: number; readonly memoryBytes: number }
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  /** All nodes have begun. */
  readonly onStarted?: (state: () => SimulationState) => void
}

const ENDINGS = {
  remove: 'Ending: the nodes and their pods are removed',
  mark: 'Ending: the nodes are marked as not ready',
  keep: 'Ending: the nodes stay as they are',
} as const
const MAX_RULES_BYTES = 1024 * 1024
const STARTS_AT_ONCE = 20
const END_MS = 300_000
const AT_ONCE = { leastMs: 0, mostMs: 0 }

/** Runs the nodes until the signal aborts, and leaves the cluster as it was asked for. */
export async function runSimulation(
  deps: SimulationDeps,
  options: SimulationOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, say } = deps
  const machine = toMachine(options)
  const settings = await loadSettings(options, machine)
  const rules = await readRules(options.rules)
  const ending = new AbortController()
  // Outlives the nodes: their end is written to the cluster.
  await using connections = new TaskGroup(ending.signal)
  const cluster = await openSharedCluster({ ...deps, ...options, version: settings.version }, connections)
  const names = Array.from({ length: options.nodes }, (_, index) => `${options.prefix}${index + 1}`)
  const startedAt = clock.monotonic()
  const nodes: SimulatedNode[] = []
  const state = () => readState(deps, { nodes, cluster, startedAt })
  try {
    const start = async (nodeName: string, index: number) => {
      const own = { settings: { ...settings, nodeName }, machine, index, cluster }
      const behaviour = { rules, usual: toUsual(options), storage: options.capacity['ephemeral-storage'] }
      nodes.push(await startSimulatedNode({ ...deps, ...own, ...behaviour }, signal))
    }
    say(`Starting ${options.nodes} nodes, ${names[0]} to ${names.at(-1)}`)
    await forEachOf(names, STARTS_AT_ONCE, start)
    deps.onStarted?.(state)
    await report(deps, state, options.reportMs, signal)
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
  } finally {
    const last = state()
    await Promise.allSettled(nodes.map((node) => node[Symbol.asyncDispose]()))
    say(ENDINGS[options.atEnd])
    const limit = { clock, ms: END_MS, what: 'the end of the simulation' }
    const end = (s: AbortSignal) => endNodes({ client: cluster.client, clock }, names, options.atEnd, s)
    await withDeadline(limit, end, ending.signal)
    say(`Requests in ${(last.at / 1000).toFixed(0)} s, by kind:`)
    for (const line of formatRequests(last)) say(line)
    ending.abort(new Error('The simulation has ended'))
  }
}

async function report(
  { say, clock }: SimulationDeps,
  state: () => SimulationState,
  everyMs: number,
  signal: AbortSignal,
): Promise<never> {
  let before = state()
  for (;;) {
    await clock.sleep(everyMs, signal)
    const now = state()
    say(formatReport(before, now))
    before = now
  }
}

function readState(
  { clock, usage }: SimulationDeps,
  running: { readonly nodes: readonly SimulatedNode[]; readonly cluster: SharedCluster; readonly startedAt: number },
): SimulationState {
  const { nodes, cluster, startedAt } = running
  let pods = 0
  let readyPods = 0
  for (const { registry } of nodes) {
    for (const { status } of registry.views()) {
      pods += 1
      if (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) readyPods += 1
    }
  }
  const at = clock.monotonic() - startedAt
  const requests = cluster.counts.all()
  return { at, nodes: nodes.length, readyNodes: cluster.nodes.countReady(), pods, readyPods, ...usage(), requests }
}

function toUsual({ startTime }: SimulationOptions): Behaviour {
  return {
    pullTime: AT_ONCE,
    startTime,
    startFailure: undefined,
    exitsAfter: undefined,
    exitCode: 0,
    readyAfter: AT_ONCE,
    cpuCores: 0,
    memoryBytes: 0,
    ignoresTerm: false,
  }
}

function toMachine({ capacity }: SimulationOptions): MachineInfo {
  const amount = (name: 'cpu' | 'memory') => quantityValue(parseQuantity(capacity[name]))
  return {
    cgroupVersion: 2,
    onlineCpus: [...Array(Number(amount('cpu'))).keys()],
    memoryBytes: amount('memory'),
    swapBytes: 0n,
    swapController: false,
    hugepageSizes: [],
    thermalThrottlePaths: [],
    selinuxEnabled: false,
    inUserNamespace: false,
  }
}

/** Those of all nodes, but for their names. */
async function loadSettings(options: SimulationOptions, machine: MachineInfo): Promise<Settings> {
  const { capacity, labels, taints } = options
  const flags = [
    `--kubeconfig=${options.kubeconfig}`,
    '--container-runtime-endpoint=unix:///simulated/runtime.sock',
    '--root-dir=/simulated',
    `--max-pods=${capacity.pods}`,
    ...(Object.keys(labels).length === 0 ? [] : [`--node-labels=${joinPairs(labels)}`]),
    ...(taints.length === 0 ? [] : [`--register-with-taints=${taints.join(',')}`]),
    // As of a node with a configuration file; with flags alone there are none.
    '--eviction-hard=memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%',
    '--enable-server=false',
    '--read-only-port=0',
    '--healthz-port=0',
    '--make-iptables-util-chains=false',
    '--serialize-image-pulls=false',
    '--registry-qps=0',
  ]
  const given = await loadConfiguration(flags, {
    files: hostConfigFiles,
    machine: { ...machine, hostname: 'simulated' },
  })
  if (given.kind !== 'run') throw new Error(`Cannot use the settings of simulated nodes: they ask for ${given.kind}`)
  return given.settings
}

function joinPairs(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

async function readRules(path: string | undefined): Promise<readonly SimulationRule[]> {
  if (path === undefined) return []
  const bytes = await hostConfigFiles.readFile(path, MAX_RULES_BYTES)
  return parseRules(Buffer.from(bytes).toString('utf8'))
}

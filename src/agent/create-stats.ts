import type { Clock } from '../base/async/clock.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import type { NodeRuntime } from './create-node-runtime.ts'
import { createCgroupReader } from '../system/cgroups/cgroup-reader.ts'
import { readCpuTopology } from '../system/machine/read-cpu-topology.ts'
import type { MachineInfo } from '../system/machine/read-machine.ts'
import { statsFiles } from '../system/directories/stats-files.ts'
import type { Route } from '../serving/http/route.ts'
import { createStatsRoutes } from '../serving/endpoints/stats-routes.ts'
import type { MachineIdentity } from '../node/stats/reports/compute-cadvisor-metrics.ts'
import { parseCgroupOfProcess } from '../node/stats/sampling/parse-cgroup-of-process.ts'
import type { MeasuredVolume } from '../node/stats/stats-deps.ts'
import { StatsEngine } from '../node/stats/stats-engine.ts'
import type { Logger } from '../base/telemetry/logger.ts'

export interface CreateStatsDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly identity: Pick<MachineIdentity, 'machineId' | 'systemUuid' | 'bootId' | 'kernelVersion' | 'osImage'>
  readonly runtime: Pick<NodeRuntime, 'calls' | 'observer' | 'cgroups'>
  readonly volumes: () => readonly MeasuredVolume[]
  readonly rootDirectory: string
  readonly clock: Clock
  readonly log: Logger
}

// The flag may be 0, and there must be an end to each look.
const LEAST_INTERVAL_MS = 1000

/** What the node and its pods use, and where that is served. */
export interface Stats {
  readonly engine: StatsEngine
  readonly routes: readonly Route[]
}

export function createStats(deps: CreateStatsDeps, signal: AbortSignal): Stats {
  const { settings, machine, runtime, log } = deps
  const { config, flags, gates, nodeName } = settings
  const engine = new StatsEngine(
    {
      ...deps,
      observed: runtime.observer,
      calls: runtime.calls,
      cgroups: createCgroupReader(machine.cgroupVersion),
      layout: runtime.cgroups,
      files: statsFiles,
      pressure: gates.enabled('KubeletPSI'),
      systemCgroups: findSystemCgroups(settings),
      podLogsDirectory: config.podLogsDir,
      intervalMs: Math.max(LEAST_INTERVAL_MS, flags.housekeepingInterval),
    },
    signal,
  )
  const memory = { memoryBytes: Number(machine.memoryBytes), swapBytes: Number(machine.swapBytes) }
  const identity = { ...deps.identity, ...readCpuTopology(), ...memory }
  // Which version is named does not matter: all that is hidden was hidden by the one before.
  const showHidden = config.showHiddenMetricsForVersion !== ''
  return { engine, routes: createStatsRoutes({ engine, nodeName, showHidden, machine: identity, log }) }
}

/** The agent's own is where it is, whatever is wished. The root is nobody's own. */
function findSystemCgroups({ config, flags }: Settings): Readonly<Record<string, string>> {
  const own = parseCgroupOfProcess(statsFiles.kernelFile('/proc/self/cgroup'))
  const all = { kubelet: own, runtime: flags.runtimeCgroups, misc: config.systemCgroups }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, path]) =>
      path === undefined || path === '' || path === '/' ? [] : [[name, path.startsWith('/') ? path : `/${path}`]],
    ),
  )
}

import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { StatsFiles } from '../../system/directories/stats-files.ts'
import { parseCgroupOfProcess } from '../../system/cgroups/parse-cgroup-of-process.ts'
import { RuntimeStats } from './runtime/runtime-stats.ts'
import type { MeasuredVolume, StatsDeps } from './stats-deps.ts'
import { StatsEngine } from './stats-engine.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface CreateStatsDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly host: { readonly statsFiles: StatsFiles; cgroupReader(): CgroupReader }
  readonly runtime: {
    readonly calls: CriClient
    readonly observer: StatsDeps['observed']
    readonly cgroups: CgroupLayout
  }
  readonly volumes: () => readonly MeasuredVolume[]
  readonly terminationLogs: StatsDeps['terminationLogs']
  readonly rootDirectory: string
  readonly clock: Clock
  readonly log: Logger
}

// The flag may be 0, and there must be an end to each measurement.
const LEAST_INTERVAL_MS = 1000

/** What the node and its pods use. */
export function createStatsEngine(deps: CreateStatsDeps, signal: AbortSignal): StatsEngine {
  const { settings, host, runtime } = deps
  const { config, flags, gates } = settings
  return new StatsEngine(
    {
      ...deps,
      observed: runtime.observer,
      calls: runtime.calls,
      cgroups: host.cgroupReader(),
      layout: runtime.cgroups,
      files: host.statsFiles,
      ...(!gates.enabled('KubeletSeparateDiskGC') && { onSplitDisk: createSplitDiskReport(deps.log) }),
      ...(gates.enabled('PodAndContainerStatsFromCRI') && {
        runtimeStats: new RuntimeStats({ calls: runtime.calls, log: deps.log }),
      }),
      pressure: gates.enabled('KubeletPSI'),
      systemCgroups: findSystemCgroups(settings, host.statsFiles),
      podLogsDirectory: config.podLogsDir,
      intervalMs: Math.max(LEAST_INTERVAL_MS, flags.housekeepingInterval),
    },
    signal,
  )
}

function createSplitDiskReport(log: Logger): () => void {
  let isReported = false
  return () => {
    if (!isReported) log.warn('KubeletSeparateDiskGC is turned off but we still have a split filesystem')
    isReported = true
  }
}

/** The agent's own is where it really is, whatever is configured. The root belongs to no program. */
function findSystemCgroups({ config, flags }: Settings, files: StatsFiles): Readonly<Record<string, string>> {
  const own = parseCgroupOfProcess(files.kernelFile('/proc/self/cgroup'))
  const all = { kubelet: own, runtime: flags.runtimeCgroups, misc: config.systemCgroups }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, path]) =>
      path === undefined || path === '' || path === '/' ? [] : [[name, path.startsWith('/') ? path : `/${path}`]],
    ),
  )
}

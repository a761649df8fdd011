import type { Settings } from '../../model/config/load-configuration.ts'
import type { MachineIdentity } from '../../node/stats/reports/compute-machine-metrics.ts'
import type { StatsEngine } from '../../node/stats/stats-engine.ts'
import type { StatsRoutesDeps } from '../endpoints/stats-routes.ts'
import { readCpuCaches } from '../../system/machine/hardware/read-cpu-caches.ts'
import { readCpuPlaces } from '../../system/machine/hardware/read-cpu-places.ts'
import { readCpuCounts } from '../../system/machine/hardware/read-cpu-counts.ts'
import { readMemoryModules } from '../../system/machine/hardware/read-memory-modules.ts'
import { readNumaNodes } from '../../system/machine/hardware/read-numa-nodes.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface CreateStatsRoutesDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly identity: Pick<MachineIdentity, 'machineId' | 'systemUuid' | 'bootId' | 'kernelVersion' | 'osImage'>
  readonly engine: StatsEngine
  readonly log: Logger
}

/** What the routes of stats need of this node and its machine. */
export function createStatsRoutesDeps({
  settings,
  machine,
  identity,
  engine,
  log,
}: CreateStatsRoutesDeps): StatsRoutesDeps {
  const memory = { memoryBytes: Number(machine.memoryBytes), swapBytes: Number(machine.swapBytes) }
  return {
    engine,
    log,
    nodeName: settings.nodeName,
    // Which version is named does not matter: all that is hidden was hidden by the one before.
    showHidden: settings.config.showHiddenMetricsForVersion !== '',
    machine: {
      ...identity,
      ...readCpuCounts(),
      ...memory,
      numaNodes: readNumaNodes(machine),
      caches: readCpuCaches(readCpuPlaces()),
      memoryModules: readMemoryModules(),
    },
  }
}

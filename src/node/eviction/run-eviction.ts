import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { computeMemoryObservations } from './compute-observations.ts'
import type { Observations } from './compute-observations.ts'
import type { NodePressure } from './node-pressure.ts'
import { parseThresholds } from './parse-thresholds.ts'
import { runEvictionRounds } from './run-eviction-rounds.ts'
import type { RunEvictionRoundsDeps } from './run-eviction-rounds.ts'
import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { ImageCollector } from '../../pods/images/collection/image-collector.ts'
import { qosCgroupPaths } from '../../model/resources/cgroup-names.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import { readCgroupV1 } from '../stats/sampling/read-cgroup-v1.ts'
import { readCgroupV2 } from '../stats/sampling/read-cgroup-v2.ts'
import type { StatsEngine } from '../stats/stats-engine.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface EvictionDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly host: { cgroupReader(): CgroupReader }
  readonly runtime: { readonly cgroups: CgroupLayout }
  readonly registry: Pick<PodRegistry, 'activePods' | 'evict' | 'dropRemains'>
  readonly collector: Pick<ImageCollector, 'collectUnused'>
  readonly stats: Pick<StatsEngine, 'ask'>
  readonly volumes: RunEvictionRoundsDeps['volumes']
  readonly membership: { readonly podEvents: PodEvents; readonly nodeEvents: NodeEvents }
  readonly pressure: NodePressure
  readonly metrics: AgentMetrics
  readonly clock: Clock
  readonly log: Logger
}

const FIRST_CHECK_MS = 1000

/** Protects the node when something runs short. */
export async function runEviction(deps: EvictionDeps, signal: AbortSignal): Promise<void> {
  // Pods come first.
  await deps.clock.sleep(FIRST_CHECK_MS, signal)
  await runEvictionRounds(toRoundsDeps(deps), signal)
}

function toRoundsDeps(deps: EvictionDeps): RunEvictionRoundsDeps {
  const { settings, registry, collector, membership, log } = deps
  const { config } = settings
  const { thresholds, ignored } = parseThresholds(config)
  if (ignored.length > 0)
    log.warn('thresholds are left out: they follow from those of nodefs and imagefs', { signals: ignored })
  return {
    ...deps,
    thresholds,
    transitionMs: config.evictionPressureTransitionPeriod,
    maxGraceSeconds: config.evictionMaxPodGracePeriod,
    localStorage: config.localStorageCapacityIsolation,
    pods: registry,
    images: collector,
    events: membership.podEvents,
    nodeEvents: membership.nodeEvents,
    readMemory: config.kernelMemcgNotification ? createMemoryReader(deps) : undefined,
  }
}

/** Node.js cannot wait for the kernel's notification, so memory is polled (docs/decisions/0014-eviction-notification.md). */
function createMemoryReader({ machine, host, runtime }: EvictionDeps): () => Observations {
  const reader = host.cgroupReader()
  const read = reader.version === 2 ? readCgroupV2 : readCgroupV1
  const memoryOf = (path: string) => read(reader, path, { extent: 'all', details: false, pressure: false }).memory
  const [pods] = runtime.cgroups.perQos ? qosCgroupPaths(runtime.cgroups) : []
  return () =>
    computeMemoryObservations(
      Number(machine.memoryBytes),
      memoryOf('/'),
      pods === undefined ? undefined : memoryOf(pods),
    )
}

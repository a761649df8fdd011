import type { Loop } from '../base/async/loop.ts'
import type { createStats } from '../node/stats/create-stats.ts'
import type { createImages } from '../pods/images/create-images.ts'
import { runDeadContainerCollection } from '../pods/leftovers/run-dead-container-collection.ts'
import { runShimCollection } from '../pods/leftovers/run-shim-collection.ts'
import { listLogs } from '../pods/logs/list-logs.ts'
import { runLogRotation } from '../pods/logs/run-log-rotation.ts'
import type { PodWorkers } from '../pods/sync/pod-workers.ts'
import { reportResolverFaults } from '../pods/sync/start/read-resolver.ts'
import { toLogLimits } from '../pods/sync/to-node-settings.ts'
import type { VolumeMeter } from '../pods/volumes/usage/volume-meter.ts'
import { logFiles } from '../system/directories/logs/log-files.ts'
import type { TerminationLogs } from '../system/directories/logs/termination-logs.ts'
import type { Hints } from './hub.ts'
import type { Stages } from './stages.ts'

type UpkeepStages = Pick<Stages, 'base' | 'runtime' | 'registry' | 'node'>

interface UpkeepParts {
  readonly workers: PodWorkers
  readonly images: Awaited<ReturnType<typeof createImages>>
  readonly files: Parameters<typeof reportResolverFaults>[0]
  readonly volumeStats: VolumeMeter
  readonly stats: ReturnType<typeof createStats>
  readonly terminationLogs: TerminationLogs
}

/** What keeps a node with pods in order: it begins when pods are being looked after. */
export function listUpkeep(stages: UpkeepStages, parts: UpkeepParts, hub: Hints): readonly Loop[] {
  const { base, runtime, registry, node } = stages
  const { settings, host, membership, tasks, clock, log } = base
  const { config } = settings
  const { calls, observer } = runtime
  const { nodeEvents } = membership
  const { workers, images, files, volumeStats, stats, terminationLogs } = parts
  return [
    { name: 'resolver check', run: () => reportResolverFaults(files, node.podSettings.sandbox.dns, nodeEvents) },
    { name: 'image garbage collection', run: (s) => images.runGarbageCollection(s) },
    { name: 'dead containers', run: (s) => runDeadContainerCollection({ settings, workers, clock }, s) },
    {
      name: 'forgotten shims',
      run: (s) =>
        runShimCollection(
          {
            calls,
            runtime: runtime.version,
            runtimeEndpoint: config.containerRuntimeEndpoint,
            host,
            requestTimeoutMs: config.runtimeRequestTimeout,
            clock,
            log,
          },
          s,
        ),
    },
    { name: 'termination logs', run: (s) => terminationLogs.run(s) },
    { name: 'volume stats', run: (s) => volumeStats.run(s) },
    {
      name: 'log rotation',
      run: (s) =>
        runLogRotation(
          { calls, files: logFiles, clock, log, limits: toLogLimits(config), containers: () => listLogs(observer) },
          s,
        ),
    },
    {
      name: 'eviction',
      async run(s) {
        // Loaded now: the pods come first.
        const [{ runEviction }, engine] = await Promise.all([import('../node/eviction/run-eviction.ts'), stats.open()])
        const measures = { collector: images.collector, stats: engine, volumes: volumeStats }
        await runEviction({ ...base, ...measures, runtime, registry, pressure: node.pressure }, s)
      },
    },
    {
      name: 'kernel log',
      async run(s) {
        const { runOomReports } = await import('../node/eviction/oom/run-oom-reports.ts')
        await runOomReports({ ...base, runtime, registry }, s)
      },
    },
    {
      name: 'node shutdown',
      run: (s) =>
        node.shutdown.run(
          { ...base, registry, workers, events: nodeEvents, onChange: () => hub.nodeChanged() },
          tasks,
          s,
        ),
    },
  ]
}

import type { Loop } from '../base/async/loop.ts'
import { PodChanges } from '../serving/sockets/pod-changes.ts'
import { runLeftoverRemoval } from '../pods/leftovers/run-leftover-removal.ts'
import { PodConfigMux } from '../pods/sources/pod-config-mux.ts'
import { createSourceLoops, sourceNames } from '../pods/sources/create-source-loops.ts'
import type { SourceLoopsDeps } from '../pods/sources/create-source-loops.ts'
import { RefusedManifests } from '../pods/sources/refused-manifests.ts'
import { deliverPods } from '../pods/sources/deliver-pods.ts'
import { waitForFreshNode } from '../pods/sources/wait-for-fresh-node.ts'
import type { Stages } from './stages.ts'

type SourceStages = Omit<Stages, 'sources' | 'serving'>

export type Sources = Awaited<ReturnType<typeof openSources>>

/** Where desired pods come from: manifests and the cluster. */
export async function openSources(stages: SourceStages) {
  const { base, node, pods } = stages
  const { settings, membership, metrics, clock } = base
  const { podEvents: events } = membership
  const changes = new PodChanges()
  let refusals = 0
  const refused = new RefusedManifests()
  const mux = new PodConfigMux({
    sources: sourceNames(settings),
    clock,
    onAllSeen: () => releaseUnknown(stages),
    onEvent: ({ pod, ...event }) => events.record(pod, event),
    deliver: (update) =>
      deliverPods(update, { gates: settings.gates, workers: pods.workers, metrics, changes, events }),
  })
  const clusterPods = await openClusterPods(stages, () => mux.allSeen())
  const runApi: SourceLoopsDeps['runApi'] =
    clusterPods &&
    (async (emit, s) => {
      const refresh = () => node.own.refresh(s)
      await clusterPods.runSource(waitForFreshNode({ wantsFreshNode: pods.wantsFreshNode, refresh, emit }), s)
    })
  const loops: readonly Loop[] = [
    ...createSourceLoops({
      ...base,
      hasObjects: base.objects !== undefined,
      runApi,
      mux,
      onRefused: () => void (refusals += 1),
      refused,
    }),
    ...(clusterPods === undefined
      ? []
      : [{ name: 'pods of the cluster', run: (s: AbortSignal) => clusterPods.run(s) }]),
  ]
  return {
    mux,
    /** Undefined on a node without an API. */
    clusterPods,
    /** The pods that changed, for those who watch them. */
    changes,
    /** How many manifests or answers gave no pods. */
    refusals: () => refusals,
    /** The manifest files that are refused at the moment. */
    refusedManifests: () => refused.list(),
    /** What good manifests have that is not used. */
    unusedFields: () => refused.unused(),
    loops,
  }
}

/** Loaded only where there is a cluster. */
async function openClusterPods({ base, registry }: SourceStages, allSeen: () => boolean) {
  const { cluster, settings, membership, metrics } = base
  if (cluster === undefined) return undefined
  const { createClusterPods } = await import('./cluster/create-cluster-pods.ts')
  return createClusterPods({
    ...base,
    ...cluster,
    nodeName: settings.nodeName,
    registry,
    allSeen,
    events: membership.podEvents,
    onReported: (seconds) => metrics.podStatusReported(seconds),
  })
}

/** Every source has been seen: what no pod has is free, and what is left of pods that no source knows goes. */
function releaseUnknown({ base, runtime, registry, devices, pods }: SourceStages): void {
  const { observer } = runtime
  pods.workers.sourcesReady()
  devices.placement.sourcesReady()
  for (const kind of pods.staged) kind.releaseUnused()
  devices.dra.claims.sourcesReady()
  devices.plugins.sourcesReady((uid) => registry.isHere(uid))
  devices.cgroups.wake()
  const given = { files: pods.files, volumes: pods.volumes, cgroups: devices.cgroups.pods, journal: pods.journal }
  const podLogsDirectory = base.settings.config.podLogsDir
  const leftovers = { ...base, ...given, registry, observer, podLogsDirectory }
  base.tasks.runLoop('leftovers', (s) => runLeftoverRemoval(leftovers, s))
}

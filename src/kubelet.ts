import process from 'node:process'
import type { Clock } from './async/clock.ts'
import { TaskGroup } from './async/task-group.ts'
import { Wakeup } from './async/wakeup.ts'
import type { Settings } from './config/load-configuration.ts'
import { computeResolvConfWarnings } from './containers/compute-dns-config.ts'
import { createPods } from './create-pods.ts'
import { createNodeRuntime } from './create-node-runtime.ts'
import { createLoneMembership } from './membership.ts'
import type { DnsSettings } from './containers/compute-dns-config.ts'
import { createGuardedFiles } from './host/create-guarded-files.ts'
import { createNodeIps } from './host/read-machine.ts'
import type { MachineFacts } from './host/read-machine.ts'
import { logFiles } from './host/log-files.ts'
import { listLogs } from './logs/list-logs.ts'
import { runLogRotation } from './logs/run-log-rotation.ts'
import { toLogLimits, toNodeSettings } from './node-settings.ts'
import { isStaticPod } from './model/pod.ts'
import type { PodUid } from './model/pod.ts'
import { Observer } from './observe/observer.ts'
import { runObserver } from './observe/run-observer.ts'
import type { PodView } from './pods/pod-workers.ts'
import { runLeftoverRemoval } from './run-leftover-removal.ts'
import { reportRunOnce } from './run-once.ts'
import { runServers } from './run-servers.ts'
import { PodConfigMux } from './sources/pod-config-mux.ts'
import { runSources, sourceNames } from './run-sources.ts'
import { deferMetrics } from './telemetry/defer-metrics.ts'
import { measureLoopDelay } from './telemetry/measure-loop-delay.ts'
import { runMemoryTrim } from './telemetry/run-memory-trim.ts'
import type { Logger } from './telemetry/logger.ts'
import type { NodeEvents } from './telemetry/node-events.ts'
import { findVolumes } from './find-volumes.ts'
import type { ObjectApi } from './objects/object-api.ts'

export interface KubeletDeps {
  readonly settings: Settings
  readonly machine: MachineFacts
  /** Where objects that pods refer to are read; undefined on a node without an API. */
  readonly objects: ObjectApi | undefined
  readonly resolvConf: string | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  readonly collectGarbage: () => void
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly write: (text: string) => void
  /** Everything is up: pods are being looked after. */
  readonly onReady: (isHealthy: () => boolean) => Promise<void>
}

const STUCK_MS = 300_000

/**
 * The whole agent, built by hand and run until the signal aborts: reading this shows how the parts hang together. Resolves to the exit
 * code of a run that ends by itself (--runonce).
 */
export async function runKubelet(deps: KubeletDeps, signal: AbortSignal): Promise<number> {
  const { settings, machine, clock, log } = deps
  const { config } = settings
  using guarded = createGuardedFiles({ clock, log })
  await using group = new TaskGroup(signal)
  const metrics = deferMetrics(async () =>
    (await import('./telemetry/create-metrics.ts')).createMetrics({
      version: settings.version,
      startedAt: clock.now(),
      desiredPods: () => countDesired(workers.views()),
      volumes: () => volumes.counts(),
      claimUsages: () => volumeStats.claimUsages(),
      loopDelay: measureLoopDelay(),
    }),
  )
  using runtime = await createNodeRuntime(
    {
      settings,
      metrics,
      clock,
      log,
      onPod: (uid) => workers.observed(uid),
      onHealth: () => workers.wakeAll(),
    },
    group,
  )
  const { calls, observer, health } = runtime
  const { nodeName } = settings
  const membership = createLoneMembership({ objects: deps.objects, nodeName, architecture: process.arch, log })
  const node = toNodeSettings(settings, {
    machine,
    nodeIps: createNodeIps(clock, settings.nodeIps),
    cgroups: runtime.cgroups,
    resolvConf: deps.resolvConf,
  })
  tellResolverLimits(node.sandbox.dns, membership.nodeEvents)
  const statusBell = new Wakeup()
  const pods = await createPods(
    { ...deps, runtime, membership, node, guarded, metrics, onStatus: () => statusBell.wake() },
    group,
  )
  const { workers, volumes, volumeStats, images } = pods

  // What runs is known before anything is wanted: so a restart of the agent adopts, and never starts twice.
  await Promise.all([
    lookAround(observer, log),
    findVolumes({ volumes, rootDirectory: pods.rootDirectory, clock, log }, group.signal),
    health.check(group.signal),
  ])
  await pods.userNamespaces.adopt(observer.uids().flatMap((uid) => observer.get(uid) ?? []))
  const mux = new PodConfigMux({
    sources: sourceNames(settings),
    clock,
    onEvent: ({ pod, ...event }) => membership.podEvents.record(pod, event),
    deliver: (update) => workers.handle(update),
  })
  const allSourcesSeen = () => {
    workers.sourcesReady()
    const leftovers = {
      files: pods.files,
      volumes,
      cgroups: pods.cgroups,
      journal: pods.journal,
      knows: (uid: PodUid) => workers.knows(uid),
      isInRuntime: async (uid: PodUid) => (await observer.refresh(uid)) !== undefined,
      metrics,
      podLogsDirectory: config.podLogsDir,
      clock,
      log,
    }
    group.run('leftovers', (s) => runLeftoverRemoval(leftovers, s))
  }
  const stuckMs = Math.max(STUCK_MS, 2 * config.syncFrequency)
  let lastLookAt = clock.now()
  let blind = false
  const onRelist = ({ ms, error }: { readonly ms: number; readonly error?: unknown }) => {
    lastLookAt = clock.now()
    if (error === undefined) metrics.relist(ms / 1000)
    else if (!blind) log.warn('cannot look at the runtime, will try again', { error })
    blind = error !== undefined
  }
  group.run('observer', (s) => runObserver({ observer, client: calls, clock, log, onRelist }, s))
  group.run('memory', (s) => runMemoryTrim({ clock, work: runtime.callsMade, collect: deps.collectGarbage }, s))
  group.run('runtime health', (s) => health.run(s))
  let refused = 0
  const onRefused = () => void (refused += 1)
  group.run('sources', (s) =>
    runSources(
      { settings, hasObjects: deps.objects !== undefined, mux, clock, log, onAllSeen: allSourcesSeen, onRefused },
      s,
    ),
  )
  group.run('image garbage collection', (s) => images.runGarbageCollection(s))
  group.run('volume stats', (s) => volumeStats.run(s))
  group.run('log rotation', (s) =>
    runLogRotation(
      { calls, files: logFiles, clock, log, limits: toLogLimits(config), containers: () => listLogs(observer) },
      s,
    ),
  )
  const syncLoop = () =>
    clock.now() - lastLookAt > stuckMs ? `no look at the runtime was tried for ${stuckMs / 1000} s` : undefined
  group.run('servers', (s) => runServers({ settings, workers, metrics, clock, log, syncLoop }, s))
  await deps.onReady(() => syncLoop() === undefined)
  if (config.runOnce) {
    const once = {
      views: () => workers.views(),
      allSeen: () => mux.allSeen(),
      refused: () => refused,
      bell: statusBell,
      clock,
      deadlineMs: config.runtimeRequestTimeout,
      write: deps.write,
    }
    return await reportRunOnce(once, group.signal)
  }
  await group.join()
  return 0
}

/** The first look. A pod that cannot be read keeps nobody else waiting: its worker asks again before it does anything. */
async function lookAround(observer: Observer, log: Logger): Promise<void> {
  try {
    await observer.relist()
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    log.warn('cannot read some pods of the runtime, going on without', { error })
  }
}

/** A resolver file that no pod can have whole is the node's to mend. */
function tellResolverLimits({ host, clusterDomain }: DnsSettings, events: NodeEvents): void {
  const messages = host === undefined ? [] : computeResolvConfWarnings(host, clusterDomain)
  for (const message of messages) events.record({ type: 'Warning', reason: 'CheckLimitsForResolvConf', message })
}

function countDesired(views: readonly PodView[]): { readonly fromNode: number; readonly fromApi: number } {
  const fromNode = views.filter(({ pod }) => isStaticPod(pod)).length
  return { fromNode, fromApi: views.length - fromNode }
}

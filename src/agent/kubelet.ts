import type { Clock } from '../base/async/clock.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { Wakeup } from '../base/async/wakeup.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import { computeNodeDnsWarnings } from '../pods/containers/network/compute-dns-config.ts'
import { createDevices } from './create-devices.ts'
import { createCgroups } from '../node/cgroups/create-cgroups.ts'
import { createCsi } from '../node/csi/create-csi.ts'
import { createPods } from './create-pods.ts'
import { createNodeRuntime } from './create-node-runtime.ts'
import { createLoneMembership } from './membership.ts'
import { createNode } from '../node/registration/create-node.ts'
import { listLogUsages } from '../node/stats/reports/list-log-usages.ts'
import { NodePressure } from '../node/eviction/node-pressure.ts'
import { createNodeTracing } from './create-node-tracing.ts'
import { PodChanges } from '../serving/sockets/pod-changes.ts'
import { openNodeShutdown } from '../node/shutdown/open-node-shutdown.ts'
import type { PluginHandler } from '../node/plugins/plugin-handler.ts'
import type { PluginRegistrations } from '../node/plugins/plugin-registrations.ts'
import { noTracer } from '../base/telemetry/tracer.ts'
import type { ServingCertificates } from '../node/certificates/open-serving-certificates.ts'
import { readOwnUsage } from '../system/processes/own-usage.ts'
import { toClusterMetrics } from './to-cluster-metrics.ts'
import { toOwner } from './to-owner.ts'
import { toNodeMetricSources } from './to-node-metric-sources.ts'
import { StatsOpener } from '../node/stats/stats-opener.ts'
import { RelistHealth } from '../pods/observe/relist-health.ts'
import { readNodeIdentity } from '../system/machine/read-node-identity.ts'
import type { Verbosity } from '../base/telemetry/create-logger.ts'
import { runProcess } from '../system/processes/run-process.ts'
import { prepareRoot } from '../system/directories/prepare-root.ts'
import { waitForFreshNode } from '../pods/sources/wait-for-fresh-node.ts'
import { NodeStartup } from '../node/registration/node-startup.ts'
import { readBootTime } from '../system/machine/read-boot-time.ts'
import type { DnsSettings } from '../pods/containers/network/compute-dns-config.ts'
import { createGuardedFiles } from '../system/guarded/create-guarded-files.ts'
import { findDeathSignal } from '../system/processes/find-death-signal.ts'
import type { MachineInfo } from '../system/machine/read-machine.ts'
import { logFiles } from '../system/directories/log-files.ts'
import { listLogs } from '../pods/logs/list-logs.ts'
import { runLogRotation } from '../pods/logs/run-log-rotation.ts'
import { toLogLimits, toNodeSettings } from '../pods/sync/to-node-settings.ts'
import type { PodUid } from '../model/pod/pod.ts'
import { runObserver } from '../pods/observe/run-observer.ts'
import { runLeftoverRemoval } from '../pods/leftovers/run-leftover-removal.ts'
import { runDeadContainerCollection } from '../pods/leftovers/run-dead-container-collection.ts'
import { reportRunOnce } from './run-once.ts'
import { runServers } from './run-servers.ts'
import { PodConfigMux } from '../pods/sources/pod-config-mux.ts'
import { runSources, sourceNames } from '../pods/sources/run-sources.ts'
import { deferMetrics } from '../metrics/defer-metrics.ts'
import { measureLoopDelay } from '../metrics/measure-loop-delay.ts'
import { runMemoryTrim } from '../base/telemetry/run-memory-trim.ts'
import type { MemoryTrimDeps } from '../base/telemetry/run-memory-trim.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { NodeEvents } from '../model/events/node-events.ts'
import { findRunning } from './find-running.ts'
import type { ObjectApi } from '../pods/objects/object-api.ts'

export interface KubeletDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  /** Where objects that pods refer to are read; undefined on a node without an API. */
  readonly objects: ObjectApi | undefined
  readonly resolvConf: string | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  readonly memory: Omit<MemoryTrimDeps, 'clock' | 'work'>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly write: (text: string) => void
  readonly verbosity: Verbosity
  /** Everything is up: pods are being looked after. */
  readonly onReady: (isHealthy: () => boolean) => Promise<void>
  /** Ends the agent: there is no way on without a new start. */
  readonly giveUp: (error: Error) => void
}

/**
 * The whole agent, built by hand and run until the signal aborts: reading this shows how the parts hang together. Resolves to the exit
 * code of a run that ends by itself (--runonce).
 */
export async function runKubelet(deps: KubeletDeps, signal: AbortSignal): Promise<number> {
  const { settings, machine, clock, log } = deps
  const { config } = settings
  using guarded = createGuardedFiles({ clock, log, launcher: await findDeathSignal(clock, signal) })
  using tracing = await createNodeTracing({
    ...deps,
    metrics: {
      spansExported: (count) => metrics.spansExported(count),
      spansDropped: (count) => metrics.spansDropped(count),
    },
  })
  const tracer = tracing?.tracer
  await using group = new TaskGroup(signal)
  if (tracing !== undefined) group.run('tracing', (s) => tracing.run(s))
  const identity = readNodeIdentity({
    machineIdFiles: settings.flags.machineIdFile,
    bootIdFiles: settings.flags.bootIdFile,
  })
  const metricInfo = toNodeMetricSources({
    ...deps,
    workers: () => workers,
    observer: () => observer,
    certificates: () => ({
      client: toEnd(clock, cluster?.certificates?.ttlSeconds()),
      server: toEnd(clock, serving?.ttlSeconds()),
    }),
  })
  const startedAt = clock.now()
  const loopDelay = measureLoopDelay()
  // What the runtime tells before there is anybody to hear it is looked at when there is.
  let isBuilt = false
  let serving: ServingCertificates | undefined
  let plugins: PluginRegistrations | undefined
  const metrics = deferMetrics(async () =>
    (await import('../metrics/create-metrics.ts')).createMetrics({
      version: settings.version,
      startedAt,
      node: metricInfo,
      usage: readOwnUsage,
      volumes: () => volumes.counts(),
      cpus: () => placement.cpus.stats(),
      resourceClaims: () => dra.claims.inUse(),
      claimUsages: () => volumeStats.claimUsages(),
      logUsages: () => listLogUsages(stats.opened?.snapshot()),
      resizes: () => pods.resizes.counts(),
      plugins: () => plugins?.plugins() ?? [],
      loopDelay,
    }),
  )
  const looks = new RelistHealth({ syncFrequencyMs: config.syncFrequency, metrics, clock, log })
  const rootDirectory = await prepareRoot(settings.flags.rootDir)
  const shutdown = await openNodeShutdown(rootDirectory, log)
  const { nodeName } = settings
  const cluster = settings.standalone
    ? undefined
    : // Before the runtime is waited for: a mistake in the kubeconfig file is told at once. Loaded only where there is one.
      await (
        await import('./join-cluster.ts')
      ).joinCluster({ ...deps, tracer, metrics: toClusterMetrics(metrics) }, group)
  using runtime = await createNodeRuntime(
    {
      settings,
      metrics,
      tracer,
      clock,
      log,
      onPod: (uid) => {
        if (!isBuilt) return
        workers.observed(uid)
        placement.wake()
      },
      onHealth: () => {
        if (!isBuilt) return
        workers.wakeAll()
        ownNode.wake()
      },
    },
    group,
  )
  const { calls, observer, health } = runtime
  const membership = cluster?.membership ?? createLoneMembership({ objects: deps.objects, nodeName, log })
  // Before anybody is told how the node is, so that it does not seem to falter at each start of the agent.
  await health.check(group.signal)
  const devices = await createDevices(
    {
      ...deps,
      rootDirectory,
      onNode: () => isBuilt && ownNode.wake(),
      onPod: (uid) => isBuilt && workers.wake(uid),
      events: membership.nodeEvents,
      metrics,
    },
    group,
  )
  const pressure = new NodePressure(() => ownNode.wake())
  const onDrivers = () => isBuilt && pods.retryCsi()
  const csi = await createCsi(
    { ...deps, cluster, nodeName, metrics, onDrivers, onChange: () => isBuilt && ownNode.wake() },
    group,
  )
  const ownNode = await createNode(
    {
      ...deps,
      cluster: cluster && {
        client: cluster.heartbeats,
        cachedNode: cluster.node,
        dropConnections: cluster.dropConnections,
      },
      calls,
      runtime: runtime.version,
      abilities: () => health.abilities,
      pressures: () => pressure.current,
      problems: () => [...looks.problems(), ...health.nodeProblems, ...csi.problems(), ...shutdown.problems()],
      volumesInUse: () => (isBuilt ? pods.csi.inUse() : undefined),
      devices: () => devices.info(),
      events: membership.nodeEvents,
      startup: new NodeStartup({
        bootedAt: readBootTime(),
        startedAt,
        onStep: (step, seconds) => metrics.nodeStartup(step, seconds),
        clock,
      }),
    },
    group.signal,
  )
  const node = toNodeSettings(settings, {
    machine,
    nodeIps: () => ownNode.ips(),
    allocatable: () => ownNode.allocatable(),
    cgroups: runtime.cgroups,
    resolvConf: deps.resolvConf,
  })
  reportResolverFaults(node.sandbox.dns, membership.nodeEvents)
  const cgroups = await createCgroups(
    {
      ...deps,
      layout: runtime.cgroups,
      pods: () => {
        const isKnown = isBuilt && (mux.allSeen() || observer.uids().every((uid) => workers.knows(uid)))
        return isKnown ? workers.activePods() : undefined
      },
      hasExclusiveCpus: (uid) => placement.hasExclusive(uid),
      onCgroupWork: (operation, seconds) => metrics.cgroupWork(operation, seconds),
      events: membership.nodeEvents,
    },
    group.signal,
  )
  const statusWakeup = new Wakeup()
  const podChanges = new PodChanges()
  const pods = await createPods(
    {
      ...deps,
      rootDirectory,
      runtime,
      membership,
      cgroups: cgroups.pods,
      node,
      devices,
      ownNode,
      csi,
      guarded,
      metrics,
      pressures: () => pressure.current,
      isShuttingDown: () => shutdown.isShuttingDown(),
      tracer: tracer ?? noTracer,
      onStatus: (uid) => {
        statusWakeup.wake()
        podChanges.changed(uid)
        clusterPods?.onStatus(uid)
      },
      isUnreadable: (uid) => clusterPods?.isUnreadable(uid) === true,
    },
    group,
  )
  const { workers, volumes, volumeStats, images, placement, dra } = pods
  isBuilt = true

  // What runs is known before anything is wanted: so a restart of the agent adopts, and never starts twice.
  await findRunning({ pods, observer, devices, rootDirectory, clock, log }, group.signal)
  const mux = new PodConfigMux({
    sources: sourceNames(settings),
    clock,
    onEvent: ({ pod, ...event }) => membership.podEvents.record(pod, event),
    deliver: (update) => {
      if (update.operation === 'ADD') for (const { spec } of update.pods) metrics.podSeen(spec.containers.length)
      workers.handle(update)
      for (const { metadata } of update.pods) podChanges.changed(metadata.uid)
    },
  })
  const clusterPods =
    cluster &&
    (await import('./create-cluster-pods.ts')).createClusterPods({
      ...deps,
      ...cluster,
      nodeName,
      node: () => toOwner(cluster.node()),
      workers: () => workers,
      allSeen: () => mux.allSeen(),
      events: membership.podEvents,
      onReported: (seconds) => metrics.podStatusReported(seconds),
    })
  cluster?.onNode(() => {
    ownNode.wake()
    clusterPods?.mirrors.wake()
  })
  const freshNode = (s: AbortSignal) => ({
    wantsFreshNode: pods.wantsFreshNode,
    refresh: () => ownNode.refresh(s),
  })
  const allSourcesSeen = () => {
    workers.sourcesReady()
    placement.sourcesReady()
    pods.csi.releaseUnused()
    dra.claims.sourcesReady()
    devices.sourcesReady((uid) => workers.isActive(uid) || observer.get(uid) !== undefined)
    cgroups.wake()
    const leftovers = {
      files: pods.files,
      volumes,
      cgroups: cgroups.pods,
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
  const onRelists = {
    onRelist: (look: Parameters<RelistHealth['note']>[0]) => looks.note(look),
    onStream: (failed: boolean) => metrics.runtimeEventsOpened(failed),
    onEvent: (happenedAt: number) => metrics.runtimeEvent(Math.max(0, clock.now() - happenedAt) / 1000),
  }
  group.run('observer', (s) => runObserver({ observer, client: calls, clock, log, ...onRelists }, s))
  group.run('memory', (s) => runMemoryTrim({ ...deps.memory, clock, work: runtime.callsMade }, s))
  group.run('runtime health', (s) => health.run(s))
  let refused = 0
  const onRefused = () => void (refused += 1)
  group.run('sources', (s) =>
    runSources(
      {
        settings,
        hasObjects: deps.objects !== undefined,
        runApi: clusterPods && ((emit, s) => clusterPods.runSource(waitForFreshNode({ ...freshNode(s), emit }), s)),
        mux,
        clock,
        log,
        onAllSeen: allSourcesSeen,
        onRefused,
      },
      s,
    ),
  )
  group.run('cgroups', (s) => cgroups.run(s))
  group.run('placement', (s) => placement.run(s))
  group.run('devices', (s) => devices.run(s))
  group.run('own node', async (s) => {
    await csi.looked(s)
    await ownNode.run(s)
  })
  if (clusterPods !== undefined) group.run('pods of the cluster', (s) => clusterPods.run(s))
  group.run('image garbage collection', (s) => images.runGarbageCollection(s))
  group.run('dead containers', (s) => runDeadContainerCollection({ ...deps, workers }, s))
  group.run('volume stats', (s) => volumeStats.run(s))
  group.run('log rotation', (s) =>
    runLogRotation(
      { calls, files: logFiles, clock, log, limits: toLogLimits(config), containers: () => listLogs(observer) },
      s,
    ),
  )
  const stats = new StatsOpener({ ...deps, runtime, volumes: () => volumeStats.usages(), rootDirectory }, group)
  group.run('eviction', async (s) => {
    const [{ runProtection }, engine] = await Promise.all([import('../node/eviction/run-protection.ts'), stats.open()])
    const { collector } = images
    const measures = { collector, stats: engine, volumes: volumeStats }
    await runProtection({ ...deps, ...measures, runtime, workers, membership, pressure, metrics }, s)
  })
  group.run('node shutdown', (s) => {
    const onChange = () => ownNode.wake()
    const events = membership.nodeEvents
    return shutdown.run(
      { ...deps, rootDirectory, workers, areKnown: () => mux.allSeen(), events, metrics, onChange },
      group,
      s,
    )
  })
  group.run('iptables', async (s) => {
    if (!config.makeIPTablesUtilChains) return
    const { runIptablesChains } = await import('../node/iptables/run-iptables-chains.ts')
    await runIptablesChains({ runProcess: (request, until) => runProcess(clock, request, until), clock, log }, s)
  })
  const syncLoop = () => looks.stuck()
  const createApi = async () => {
    // Loaded only now: pods come before those who look at them.
    const { createKubeletApi } = await import('./create-kubelet-api.ts')
    const created = await createKubeletApi(
      {
        ...deps,
        runtime,
        workers,
        ownNode,
        client: cluster?.client,
        rootDirectory,
        metrics,
      },
      group,
    )
    serving = created.certificates
    return created.api
  }
  const statsRoutes = async () => {
    const [{ createNodeStatsRoutes }, engine] = await Promise.all([
      import('./create-node-stats-routes.ts'),
      stats.open(),
    ])
    return createNodeStatsRoutes({ ...deps, identity, engine })
  }
  const devicePlugins = () => devices.problem()
  const ports = { settings, workers, metrics, tracer, clock, log, syncLoop, devicePlugins, statsRoutes, createApi }
  group.run('servers', (s) => runServers(ports, s))
  await deps.onReady(() => syncLoop() === undefined && devicePlugins() === undefined)
  if (config.runOnce) {
    const once = {
      views: () => workers.views(),
      allSeen: () => mux.allSeen(),
      refused: () => refused,
      wakeup: statusWakeup,
      clock,
      deadlineMs: config.runtimeRequestTimeout,
      write: deps.write,
    }
    return await reportRunOnce(once, group.signal)
  }
  group.run('node API', async (s) => {
    const { runNodeApi } = await import('./run-node-api.ts')
    const given = { placement, devices, claims: dra.claims }
    await runNodeApi({ settings, rootDirectory, workers, ...given, changes: podChanges, metrics, clock, log }, s)
  })
  group.run('plugins', async (s) => {
    const { PluginRegistrations } = await import('../node/plugins/plugin-registrations.ts')
    plugins = new PluginRegistrations({
      directory: `${rootDirectory}/plugins_registry`,
      handlers: new Map<string, PluginHandler>([
        ['CSIPlugin', csi.handler],
        ['DevicePlugin', devices.handler],
        ['DRAPlugin', dra.drivers],
      ]),
      clock,
      log,
    })
    await plugins.run(s)
  })
  await group.join()
  return 0
}

/** What is wrong with the resolver of all pods is the node's to mend. */
function reportResolverFaults(settings: DnsSettings, events: NodeEvents): void {
  for (const warning of computeNodeDnsWarnings(settings)) events.record({ type: 'Warning', ...warning })
}

/** Without end is without a certificate. */
function toEnd(clock: Clock, ttlSeconds: number | undefined): number | undefined {
  return ttlSeconds === undefined || ttlSeconds === Infinity ? undefined : clock.now() + ttlSeconds * 1000
}

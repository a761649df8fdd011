import process from 'node:process'
import type { Clock } from './async/clock.ts'
import { TaskGroup } from './async/task-group.ts'
import { Turnstile } from './async/turnstile.ts'
import { Wakeup } from './async/wakeup.ts'
import type { Settings } from './config/load-configuration.ts'
import { createAdmission } from './create-admission.ts'
import { createImages } from './create-images.ts'
import { createProbes } from './create-probes.ts'
import { createUserNamespaces } from './create-user-namespaces.ts'
import { createVolumes } from './create-volumes.ts'
import { computeResolvConfWarnings } from './containers/compute-dns-config.ts'
import type { EnvironmentFile } from './containers/environment-sources.ts'
import type { DnsSettings } from './containers/compute-dns-config.ts'
import { createCriClient } from './cri/cri-client.ts'
import { measureCalls } from './cri/measure-calls.ts'
import { toRuntimeFeatures } from './cri/to-runtime-features.ts'
import { httpGet } from './http-client/http-get.ts'
import { createGuardedFiles } from './host/create-guarded-files.ts'
import { createJournalFolder } from './host/journal-folder.ts'
import { createPodFiles } from './host/pod-files.ts'
import { prepareRoot } from './host/prepare-root.ts'
import { createNodeIps } from './host/read-machine.ts'
import type { MachineFacts } from './host/read-machine.ts'
import { readKernel } from './host/read-kernel.ts'
import { logFiles } from './host/log-files.ts'
import { listLogs } from './logs/list-logs.ts'
import { runLogRotation } from './logs/run-log-rotation.ts'
import { nodeLabels } from './node-labels.ts'
import { toLogLimits, toNodeSettings } from './node-settings.ts'
import { isStaticPod } from './model/pod.ts'
import type { Pod, PodUid } from './model/pod.ts'
import { Observer } from './observe/observer.ts'
import { runObserver } from './observe/run-observer.ts'
import { RuntimeHealth } from './observe/runtime-health.ts'
import { crashBackOffLimits } from './pods/compute-crash-back-off.ts'
import { ExitJournal } from './pods/exit-journal.ts'
import { PodWorkers } from './pods/pod-workers.ts'
import type { PodView } from './pods/pod-workers.ts'
import { createPodCgroups } from './resources/pod-cgroups.ts'
import { runLeftoverRemoval } from './run-leftover-removal.ts'
import { reportRunOnce } from './run-once.ts'
import { runServers } from './run-servers.ts'
import { PodConfigMux } from './sources/pod-config-mux.ts'
import { runSources, sourceNames } from './run-sources.ts'
import { findCgroupDriver, startRuntime } from './start-runtime.ts'
import { deferMetrics } from './telemetry/defer-metrics.ts'
import { measureLoopDelay } from './telemetry/measure-loop-delay.ts'
import { runMemoryTrim } from './telemetry/run-memory-trim.ts'
import type { Logger } from './telemetry/logger.ts'
import { createLoggedNodeEvents } from './telemetry/node-events.ts'
import type { NodeEvents } from './telemetry/node-events.ts'
import { createLoggedPodEvents } from './telemetry/pod-events.ts'
import { readEnvFile } from './volumes/read-env-file.ts'
import { VolumeStats } from './volumes/volume-stats.ts'
import { noRuntimeClasses } from './no-runtime-classes.ts'
import { findVolumes } from './find-volumes.ts'
import { findPullSecret } from './find-pull-secret.ts'
import type { ObjectApi } from './objects/object-api.ts'
import { createPodObjects } from './objects/pod-objects.ts'
import { readEnvironment } from './read-environment.ts'

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

// On small machines two starts at a time are faster for all than many (docs/decisions/0005-turnstile.md).
const LEAST_PARALLEL_STARTS = 2
const START_PATIENCE_MS = 5000
const STUCK_MS = 300_000

/**
 * The whole agent, built by hand and run until the signal aborts: reading this shows how the parts hang together. Resolves to the exit
 * code of a run that ends by itself (--runonce).
 */
export async function runKubelet(deps: KubeletDeps, signal: AbortSignal): Promise<number> {
  const { settings, machine, clock, log } = deps
  const { config, flags } = settings
  using guarded = createGuardedFiles({ clock, log })
  await using group = new TaskGroup(signal)
  const sources = {
    version: settings.version,
    startedAt: clock.now(),
    desiredPods: () => countDesired(workers.views()),
    volumes: () => volumes.counts(),
    claimUsages: () => volumeStats.claimUsages(),
    loopDelay: measureLoopDelay(),
  }
  const metrics = deferMetrics(async () => (await import('./telemetry/create-metrics.ts')).createMetrics(sources))

  using client = createCriClient({
    runtimeEndpoint: config.containerRuntimeEndpoint,
    imageEndpoint: settings.imageServiceEndpoint,
    requestTimeoutMs: config.runtimeRequestTimeout,
    clock,
    log,
  })
  let callsMade = 0
  const calls = measureCalls(client, {
    clock,
    onCall: ({ operation, seconds, failed }) => {
      callsMade += 1
      metrics.runtimeOperation(operation, seconds, failed)
    },
  })
  const version = await startRuntime({ client, settings, clock, log }, group.signal)
  const driver = await findCgroupDriver({ client, settings, clock, log }, group.signal)
  const cgroups = { driver, root: settings.cgroupRoot, perQos: config.cgroupsPerQOS }

  const health = new RuntimeHealth({ client, clock, log, onChange: () => workers.wakeAll() })
  const observer = new Observer({ runtime: calls, clock, onChange: (uid) => workers.observed(uid) }, group.signal)
  const events = createLoggedPodEvents(log)
  const features = () => toRuntimeFeatures(health.abilities, version)
  const userNamespaces = await createUserNamespaces(deps, group.signal)
  const podFiles = createPodFiles({ rootDirectory: flags.rootDir })
  const files = {
    ...podFiles,
    async removePod(uid: string, logDirectory: string | undefined) {
      await userNamespaces.release(uid)
      await podFiles.removePod(uid, logDirectory)
    },
  }
  const journal = await ExitJournal.load({ files: createJournalFolder(`${flags.rootDir}/deckhand/finished-pods`), log })
  const podCgroups = createPodCgroups({ layout: cgroups, clock }, group.signal)
  const { environment, workingDirectory } = deps
  const objects = createPodObjects({
    api: deps.objects,
    strategy: config.configMapAndSecretChangeDetectionStrategy,
    syncFrequencyMs: config.syncFrequency,
    nodeTtlMs: () => undefined,
    onChange: (uids) => uids.forEach(lookAgain),
    tasks: group,
    clock,
    log,
    random: deps.random,
  })
  const lookAgain = (uid: PodUid) => {
    volumes.hurry(uid)
    workers.observed(uid)
  }
  const envFiles = { files: guarded, volumePath: (uid: PodUid, name: string) => volumes.pathOf(uid, name), log }
  const readFile = (pod: Pod, file: EnvironmentFile, s: AbortSignal) => readEnvFile(envFiles, { pod, file }, s)
  const services = () => ({ kind: 'found', value: [] }) as const
  const volumeImages = () => workers.views().flatMap(({ pod }) => listVolumeImages(pod))
  const images = await createImages(
    {
      settings,
      calls,
      events,
      environment,
      workingDirectory,
      findSecret: (key, s) => findPullSecret({ objects, log }, key, s),
      volumeImages,
      clock,
      log,
    },
    group.signal,
  )
  const node = toNodeSettings(settings, {
    machine,
    nodeIps: createNodeIps(clock, settings.nodeIps),
    cgroups,
    resolvConf: deps.resolvConf,
  })
  const nodeEvents = createLoggedNodeEvents(log, settings.nodeName)
  tellResolverLimits(node.sandbox.dns, nodeEvents)
  const rootDirectory = await prepareRoot(flags.rootDir)
  const volumes = createVolumes(
    {
      rootDirectory,
      guarded,
      objects,
      node: () => ({ name: settings.nodeName, labels: nodeLabels(settings.nodeName, process.arch) }),
      nodeAllocatable: () => node.container.allocatable,
      swapIsOn: machine.swapBytes > 0n,
      selinuxEnabled: machine.selinuxEnabled,
      events,
      nodeEvents,
      metrics,
      clock,
      log,
      random: deps.random,
    },
    group,
  )
  const volumeStats = new VolumeStats({
    mounted: () => volumes.mounted(),
    files: guarded,
    periodMs: config.volumeStatsAggPeriod,
    metrics,
    clock,
    random: deps.random,
    log,
  })
  const statusBell = new Wakeup()
  const workers = new PodWorkers(
    {
      runtime: {
        calls,
        observer,
        images: images.puller,
        volumes,
        references: objects,
        features,
        runtimeClasses: noRuntimeClasses,
        userNamespaces,
        httpGet,
        files,
        cgroups: podCgroups,
        journal,
        readEnvironment: (request, s) => readEnvironment({ objects, readFile, services }, request, s),
        events,
        starts: new Turnstile({
          places: Math.max(LEAST_PARALLEL_STARTS, machine.onlineCpus.length),
          patienceMs: START_PATIENCE_MS,
          clock,
        }),
        probes: createProbes({
          calls,
          notes: files.probeNotes,
          events,
          metrics,
          cores: machine.onlineCpus.length,
          clock,
          log,
          random: deps.random,
        }),
        node,
        metrics,
        noteStep: (_, work) => work(),
        clock,
        log,
        random: deps.random,
      },
      settings: {
        runtimeName: version.name,
        backOffLimits: crashBackOffLimits(config.crashLoopBackOff.maxContainerRestartPeriod),
        syncFrequencyMs: config.syncFrequency,
        networkProblem: () => health.networkProblem,
      },
      ...createAdmission({ settings, kernel: readKernel(), features }),
      observedPods: observer,
      onStatus: () => statusBell.wake(),
      onGone: (uid) => images.puller.forget(uid),
    },
    group,
  )

  // What runs is known before anything is wanted: so a restart of the agent adopts, and never starts twice.
  await Promise.all([
    lookAround(observer, log),
    findVolumes({ volumes, rootDirectory, clock, log }, group.signal),
    health.check(group.signal),
  ])
  await userNamespaces.adopt(observer.uids().flatMap((uid) => observer.get(uid) ?? []))
  const mux = new PodConfigMux({
    sources: sourceNames(settings),
    clock,
    onEvent: ({ pod, ...event }) => events.record(pod, event),
    deliver: (update) => workers.handle(update),
  })
  const allSourcesSeen = () => {
    workers.sourcesReady()
    const leftovers = {
      files,
      volumes,
      cgroups: podCgroups,
      journal,
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
  group.run('memory', (s) => runMemoryTrim({ clock, work: () => callsMade, collect: deps.collectGarbage }, s))
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

function listVolumeImages({ spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ image }) => (image?.reference === undefined ? [] : [image.reference]))
}

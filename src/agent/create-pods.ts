import type { Pressures } from '../pods/admission/compute-pressure-rejection.ts'
import type { Clock } from '../base/async/clock.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { Turnstile } from '../base/async/turnstile.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import type { EnvironmentFile } from '../pods/containers/environment/environment-sources.ts'
import type { NodeDevices } from './create-devices.ts'
import { createNodePlacement } from './create-node-placement.ts'
import { createNodeAdmission } from '../pods/admission/create-node-admission.ts'
import { createDra, createDraFiles } from '../node/claims/create-dra.ts'
import { createImages } from '../pods/images/create-images.ts'
import type { NodeRuntime } from './create-node-runtime.ts'
import type { OwnNode } from '../node/registration/create-node.ts'
import { createPodAccounts } from '../pods/objects/create-pod-accounts.ts'
import { createProbes } from '../pods/probes/create-probes.ts'
import { createResizing } from './create-resizing.ts'
import { createUserNamespaces } from '../node/user-namespaces/create-user-namespaces.ts'
import { createVolumeProjects } from '../pods/volumes/usage/create-volume-projects.ts'
import { createVolumes } from '../pods/volumes/create-volumes.ts'
import { createCsiKind } from '../pods/volumes/csi/create-csi-kind.ts'
import type { Csi } from '../node/csi/create-csi.ts'
import { findPullSecret } from '../pods/objects/find-pull-secret.ts'
import type { GuardedFiles } from '../system/guarded/guarded-files.ts'
import { createRecordFolder } from '../system/files/record-folder.ts'
import { createPodFiles } from '../system/directories/pod-files.ts'
import { readKernel } from '../system/machine/read-kernel.ts'
import type { MachineInfo } from '../system/machine/read-machine.ts'
import { httpGet } from '../protocols/http/http-get.ts'
import type { Membership } from './membership.ts'
import type { Node } from '../model/generated/core-v1.ts'
import type { SelectableNode } from '../model/pod/matches-node-selector.ts'
import { podLogName } from '../model/pod/pod.ts'
import type { Pod, PodUid } from '../model/pod/pod.ts'
import { createPodObjects } from '../pods/objects/pod-objects.ts'
import { joinInjections } from '../pods/sync/start/join-injections.ts'
import { crashBackOffLimits } from '../pods/sync/decide/compute-crash-back-off.ts'
import { ExitJournal } from '../pods/sync/exit-journal.ts'
import type { NodeSettings } from '../pods/sync/node-settings.ts'
import { PodWorkers } from '../pods/sync/pod-workers.ts'
import { readEnvironment } from '../pods/objects/read-environment.ts'
import type { PodCgroups } from '../node/cgroups/pod-cgroups.ts'
import type { AgentMetrics } from '../metrics/create-metrics.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { Tracer } from '../base/telemetry/tracer.ts'
import { readEnvFile } from '../pods/volumes/payload/read-env-file.ts'
import { VolumeStats } from '../pods/volumes/usage/volume-stats.ts'

export interface CreatePodsDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  readonly runtime: NodeRuntime
  readonly membership: Membership
  readonly cgroups: PodCgroups
  readonly node: NodeSettings
  readonly devices: Pick<NodeDevices, 'injections' | 'provider' | 'granted' | 'adopt'>
  readonly ownNode: Pick<OwnNode, 'node' | 'allocatable' | 'declaredFeatures' | 'wake'>
  readonly csi: Csi
  /** For everything that pods control. */
  readonly guarded: GuardedFiles
  readonly metrics: AgentMetrics
  /** What the node is short of. */
  readonly pressures: () => Pressures
  readonly isShuttingDown: () => boolean
  /** The status of a pod may have changed. */
  readonly onStatus: (uid: PodUid) => void
  /** Does the API have this pod although it could not be read? */
  readonly isUnreadable: (uid: PodUid) => boolean
  readonly tracer: Tracer
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

// On small machines two starts at a time are faster for all than many (docs/decisions/0005-turnstile.md).
const LEAST_PARALLEL_STARTS = 2
const START_PATIENCE_MS = 5000

/** The pods of this node: their workers, and everything that a worker acts through. */
export async function createPods(deps: CreatePodsDeps, group: TaskGroup) {
  const { settings, machine, runtime, membership, guarded, metrics, clock, log, random } = deps
  const { config, flags } = settings
  const { calls, observer, health, features } = runtime
  const { podEvents: events, nodeEvents } = membership
  const userNamespaces = await createUserNamespaces(deps, group.signal)
  const podFiles = createPodFiles({ rootDirectory: flags.rootDir })
  const files = {
    ...podFiles,
    async removePod(uid: string, logDirectory: string | undefined) {
      await userNamespaces.release(uid)
      await podFiles.removePod(uid, logDirectory)
    },
  }
  const journal = await ExitJournal.load({ files: createRecordFolder(`${flags.rootDir}/deckhand/finished-pods`), log })
  const refresh = (uid: PodUid) => {
    volumes.retryNow(uid)
    workers.observed(uid)
  }
  const objects = createPodObjects({
    api: membership.objects,
    strategy: config.configMapAndSecretChangeDetectionStrategy,
    syncFrequencyMs: config.syncFrequency,
    nodeTtlMs: membership.nodeTtlMs,
    onChange: (uids) => uids.forEach(refresh),
    tasks: group,
    clock,
    log,
    random,
  })
  const { rootDirectory } = deps
  const projects = await createVolumeProjects({ settings, rootDirectory, clock, log })
  const csi = createCsiKind(
    {
      ...deps,
      objects,
      events,
      evict: (uid, verdict, s) => workers.evict(uid, verdict, s),
      onInUse: () => deps.ownNode.wake(),
    },
    group,
  )
  const volumes = createVolumes(
    {
      rootDirectory,
      csi,
      projects,
      guarded,
      objects,
      projections: membership.projections,
      node: () => toSelectable(deps.ownNode.node()),
      nodeAllocatable: () => deps.node.container.allocatable,
      swapIsOn: machine.swapBytes > 0n,
      selinuxEnabled: machine.selinuxEnabled,
      remoteMountHelper: flags.experimentalMounterPath,
      events,
      nodeEvents,
      metrics,
      clock,
      log,
      random,
    },
    group,
  )
  const volumeStats = new VolumeStats({
    mounted: () => volumes.mounted(),
    files: guarded,
    projects,
    periodMs: config.volumeStatsAggPeriod,
    reportsHealth: settings.gates.enabled('CSIVolumeHealth'),
    metrics,
    clock,
    random,
    log,
  })
  const images = await createImages(
    {
      settings,
      calls,
      events,
      nodeEvents,
      environment: deps.environment,
      workingDirectory: deps.workingDirectory,
      findSecret: (key, signal) => findPullSecret({ objects, log }, key, signal),
      accounts: createPodAccounts(objects),
      metrics,
      tracer: deps.tracer,
      volumeImages: () => workers.views().flatMap(({ pod }) => listVolumeImages(pod)),
      clock,
      log,
    },
    group.signal,
  )
  const envFiles = { files: guarded, volumePath: (uid: PodUid, name: string) => volumes.pathOf(uid, name), log }
  const readFile = (pod: Pod, file: EnvironmentFile, s: AbortSignal) => readEnvFile(envFiles, { pod, file }, s)
  const { services, servicesRead } = membership
  const environment = { objects, readFile, services, servicesRead, clock }
  const placement = await createNodePlacement({
    ...deps,
    quota: deps.node.sandbox.cpu,
    activePods: () => workers.activePods(),
    others: [deps.devices.provider],
  })
  const cores = machine.onlineCpus.length
  const dra = await createDra(
    { ...deps, files: createDraFiles(rootDirectory, clock), observer, workers: () => workers },
    group,
  )
  const { wantsFreshNode, ...admission } = createNodeAdmission({
    settings,
    kernel: readKernel(),
    features,
    node: () => deps.ownNode.node(),
    allocatable: () => deps.ownNode.allocatable(),
    granted: () => deps.devices.granted(),
    activePods: () => workers.activePods().map((pod) => allocations.reserved(pod)),
    pressures: deps.pressures,
    isShuttingDown: deps.isShuttingDown,
    providers: [placement],
    hasResourceClaims: membership.dynamicResources !== undefined,
    declaredFeatures: deps.ownNode.declaredFeatures,
    evict: (pod, { reason, message }) =>
      group.run(`eviction of ${podLogName(pod)}`, (s) =>
        workers.evict(pod.metadata.uid, { reason, message, graceSeconds: undefined }, s),
      ),
    metrics,
    events,
  })
  const { allocations, resizes } = await createResizing({
    ...deps,
    events,
    workers: () => workers,
    admit: (pod) => admission.admitResize(pod),
    declaredFeatures: deps.ownNode.declaredFeatures,
  })
  group.run('resizes', (s) => resizes.run(s))
  const workers = new PodWorkers(
    {
      podDeps: {
        calls,
        observer,
        images: images.puller,
        volumes,
        injections: joinInjections([dra.injections, deps.devices.injections]),
        references: objects,
        features,
        runtimeClasses: membership.runtimeClasses,
        userNamespaces,
        httpGet,
        files,
        cgroups: deps.cgroups,
        placement,
        allocations,
        resizes,
        journal,
        readEnvironment: (request, s) => readEnvironment(environment, request, s),
        events,
        starts: new Turnstile({
          places: Math.max(LEAST_PARALLEL_STARTS, cores),
          patienceMs: START_PATIENCE_MS,
          clock,
        }),
        probes: createProbes({ calls, notes: files.probeNotes, events, metrics, cores, clock, log, random }),
        node: deps.node,
        metrics,
        noteStep: (_, work) => work(),
        tracer: deps.tracer,
        clock,
        log,
        random,
      },
      settings: {
        runtimeName: runtime.version.name,
        backOffLimits: crashBackOffLimits(config.crashLoopBackOff.maxContainerRestartPeriod),
        syncFrequencyMs: config.syncFrequency,
        networkProblem: () => health.networkProblem,
      },
      ...admission,
      admit: (pod) => admission.admit(allocations.allocated(pod)),
      allocations,
      resizes,
      adopt(pod) {
        placement.adopt(allocations.allocated(pod))
        deps.devices.adopt(pod)
      },
      observedPods: observer,
      onStatus: deps.onStatus,
      isUnreadable: deps.isUnreadable,
      onEnded: (uid) => placement.release(uid),
      onGone: (uid) => {
        images.puller.forget(uid)
        placement.release(uid)
      },
    },
    group,
  )
  group.run('containers that wait for services', async (s) => {
    await servicesRead(s)
    workers.wakeAll()
  })
  const wantsFresh = (pod: Pod) => !workers.knows(pod.metadata.uid) && wantsFreshNode(pod)
  return {
    workers,
    volumes,
    csi,
    /** A CSI driver came or went: what waits for one need not wait longer. */
    retryCsi() {
      volumes.retry(csi.plugin)
      csi.retryNow()
    },
    volumeStats,
    images,
    files,
    journal,
    placement,
    dra,
    userNamespaces,
    resizes,
    wantsFreshNode: wantsFresh,
  }
}

function toSelectable({ metadata }: Node): SelectableNode {
  return { name: metadata?.name ?? '', labels: metadata?.labels ?? {} }
}

function listVolumeImages({ spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ image }) => (image?.reference === undefined ? [] : [image.reference]))
}

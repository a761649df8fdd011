import type { Loop } from '../base/async/loop.ts'
import { Turnstile } from '../base/async/turnstile.ts'
import { noTracer } from '../base/telemetry/tracer.ts'
import { podLogName } from '../model/pod/pod.ts'
import type { Pod } from '../model/pod/pod.ts'
import { createStats } from '../node/stats/create-stats.ts'
import { createUserNamespaces } from '../node/user-namespaces/create-user-namespaces.ts'
import { createNodeAdmission } from '../pods/admission/create-node-admission.ts'
import { createImages } from '../pods/images/create-images.ts'
import { noteRemains } from '../pods/leftovers/note-remains.ts'
import { PodRemains } from '../pods/leftovers/pod-remains.ts'
import { createPodAccounts } from '../pods/objects/create-pod-accounts.ts'
import { findPullSecret } from '../pods/objects/find-pull-secret.ts'
import { createPodObjects } from '../pods/objects/pod-objects.ts'
import { createProbes } from '../pods/probes/create-probes.ts'
import { crashBackOffLimits } from '../pods/sync/decide/compute-crash-back-off.ts'
import { ExitJournal } from '../pods/sync/report/exit-journal.ts'
import { PodWorkers } from '../pods/sync/pod-workers.ts'
import { PodResizes } from '../pods/sync/resize/pod-resizes.ts'
import { toResizeRules } from '../pods/sync/resize/to-resize-rules.ts'
import { preemptPod } from '../pods/sync/stop/preempt-pod.ts'
import { joinInjections } from '../pods/sync/start/join-injections.ts'
import { createEnvironmentReader } from '../pods/volumes/payload/create-environment-reader.ts'
import { TerminationLogs } from '../system/directories/logs/termination-logs.ts'
import type { Hints } from './hub.ts'
import { listUpkeep } from './list-upkeep.ts'
import { openVolumes } from './open-volumes.ts'
import type { Stages } from './stages.ts'
import { createGarbageReports } from '../pods/leftovers/create-garbage-reports.ts'

const START_PATIENCE_MS = 5000
// Fewer take longer; with hundreds at once containerd falls behind with its own work (docs/decisions/0005-turnstile.md).
const PARALLEL_ENDS_PER_CPU = 8
const END_PATIENCE_MS = 500

type PodStages = Pick<Stages, 'base' | 'runtime' | 'registry' | 'allocations' | 'devices' | 'node'>

export type Pods = Awaited<ReturnType<typeof openPods>>

/** The pods of this node: their workers, and everything that a worker acts through. */
export async function openPods(stages: PodStages, hub: Hints) {
  const { base, runtime, registry, allocations, devices, node } = stages
  const { settings, host, membership, metrics, tasks, clock, log, random } = base
  const { config, flags } = settings
  const { calls, observer, health, features } = runtime
  const { podEvents: events, nodeEvents } = membership
  const { placement } = devices
  const { moves } = devices.cgroups
  const tracer = base.tracer ?? noTracer
  const cores = base.machine.onlineCpus.length
  const userNamespaces = await createUserNamespaces(base, tasks.signal)
  const remains = new PodRemains({ knows: (uid) => registry.knows(uid), events: nodeEvents, clock, log })
  const files = noteRemains(host.podFiles(flags.rootDir), { remains, userNamespaces })
  const journal = await ExitJournal.load({ files: host.recordFolder(`${flags.rootDir}/deckhand/finished-pods`), log })
  const objects = createPodObjects({
    ...base,
    api: membership.objects,
    strategy: config.configMapAndSecretChangeDetectionStrategy,
    syncFrequencyMs: config.syncFrequency,
    nodeTtlMs: membership.nodeTtlMs,
    onChange: (uids) => uids.forEach((uid) => hub.objectsChanged(uid)),
  })
  const storage = await openVolumes(stages, objects)
  const images = await createImages(
    {
      ...base,
      calls,
      events,
      nodeEvents,
      findSecret: (key, signal) => findPullSecret({ objects, log }, key, signal),
      accounts: createPodAccounts(objects),
      tracer,
      desiredPods: () => registry.views().map(({ pod }) => pod),
      observedImages: () => observer.images(),
    },
    tasks.signal,
  )
  const { wantsFreshNode, ...admission } = createNodeAdmission({
    settings,
    kernel: host.kernel(),
    features,
    node: () => node.own.node(),
    allocatable: () => node.own.allocatable(),
    takenDevices: () => devices.plugins.takenCounts(),
    admittedPods: () => registry.admittedPods().map((pod) => allocations.reserved(pod)),
    endingPods: () => registry.endingPods(),
    pressures: () => node.pressure.current,
    isShuttingDown: () => node.shutdown.isShuttingDown(),
    providers: [placement],
    hasResourceClaims: membership.dynamicResources !== undefined,
    declaredFeatures: node.own.declaredFeatures,
    evict: (pod, eviction) =>
      tasks.run(`eviction of ${podLogName(pod)}`, (s) => preemptPod({ registry, log }, { pod, eviction }, s)),
    metrics,
    events,
  })
  const resizes = new PodResizes({
    allocations,
    rules: toResizeRules(settings, node.podSettings.container.resources),
    find: (uid) => registry.desired(uid),
    admit: (pod) => admission.admitResize(pod),
    declaredFeatures: node.own.declaredFeatures,
    wake: (uid) => registry.wake(uid),
    onResized: () => hub.roomChanged(),
    events,
    metrics,
    clock,
    log,
  })
  const starts = new Turnstile({ ...host.parallelStarts, patienceMs: START_PATIENCE_MS, clock })
  const ends = new Turnstile({
    places: PARALLEL_ENDS_PER_CPU * cores,
    patienceMs: END_PATIENCE_MS,
    // A pod that takes its time does not burden the runtime; one that the runtime has no time for does.
    extendPatience: (signal) => Promise.race([calls.version({}, signal), clock.sleep(START_PATIENCE_MS, signal)]),
    clock,
  })
  const workers = new PodWorkers(
    {
      registry,
      podDeps: {
        calls,
        observer,
        images: images.puller,
        volumes: storage.volumes,
        injections: joinInjections([devices.dra.injections, devices.plugins.injections]),
        references: objects,
        features,
        cdiFault: runtime.cdiFault,
        runtimeClasses: membership.runtimeClasses,
        userNamespaces,
        httpGet: host.podNetwork.httpGet,
        files,
        terminations: {
          notes: files.terminationNotes,
          bootId: host.identity().bootId,
          isNodeEnding: () => node.shutdown.isShuttingDown(),
        },
        cgroups: devices.cgroups.pods,
        placement,
        allocations,
        resizes,
        journal,
        readEnvironment: createEnvironmentReader({ ...base, objects, volumes: storage.volumes }),
        events,
        onGarbageFailure: createGarbageReports({ events: nodeEvents, clock }),
        starts: {
          runInTurn: (priority, work, signal) =>
            starts.runInTurn(priority, () => moves.keepQuick(work, { othersWait: starts.waiting > 0 }), signal),
        },
        ends,
        probes: createProbes({
          calls,
          network: host.podNetwork,
          notes: files.probeNotes,
          gates: settings.gates,
          events,
          metrics,
          cores,
          clock,
          log,
          random,
        }),
        node: node.podSettings,
        metrics,
        tracer,
        clock,
        log,
        random,
      },
      settings: {
        runtimeName: runtime.version.name,
        backOffLimits: crashBackOffLimits(
          config.crashLoopBackOff.maxContainerRestartPeriod,
          settings.gates.enabled('ReduceDefaultCrashLoopBackOffDecay'),
        ),
        syncFrequencyMs: config.syncFrequency,
        networkProblem: () => health.networkProblem,
      },
      ...admission,
      admit: (pod) => admission.admit(allocations.allocated(pod)),
      allocations,
      resizes,
      adopt(pod) {
        placement.adopt(allocations.allocated(pod))
        devices.plugins.adopt(pod)
      },
      observedPods: observer,
      onStatus: (uid) => hub.statusChanged(uid),
      onEnded: (uid) => placement.release(uid),
      onGone: (uid) => {
        images.puller.forget(uid)
        placement.release(uid)
      },
    },
    tasks,
  )
  const { volumeStats } = storage
  const terminationLogs = base.resources.use(new TerminationLogs({ clock, log }))
  const stats = createStats({ ...base, runtime, volumes: () => volumeStats.usages(), terminationLogs }, tasks)
  const loops: readonly Loop[] = [
    { name: 'finished pods', run: (s) => journal.run(clock, s) },
    { name: 'remains of pods', run: (s) => remains.run(s) },
    { name: 'resizes', run: (s) => resizes.run(s) },
    {
      name: 'containers that wait for services',
      async run(s) {
        await membership.servicesRead(s)
        registry.wakeAll()
      },
    },
  ]
  const lateLoops = listUpkeep(stages, { workers, images, files, volumeStats, stats, terminationLogs }, hub)
  return {
    ...storage,
    workers,
    starts,
    images,
    files,
    journal,
    userNamespaces,
    resizes,
    stats,
    terminationLogs,
    /** True for a new pod that only what is known of the node is against. */
    wantsFreshNode: (pod: Pod) => !registry.knows(pod.metadata.uid) && wantsFreshNode(pod),
    loops,
    lateLoops,
  }
}

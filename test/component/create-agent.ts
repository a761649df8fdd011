import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Rejection } from '../../src/pods/admission/rejection.ts'
import { ShutdownError } from '../../src/base/async/abort-errors.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { Turnstile } from '../../src/base/async/turnstile.ts'
import type { PodCapability } from '../../src/pods/containers/unsupported-fields.ts'
import type { Dra } from '../../src/node/claims/create-dra.ts'
import { joinDevices } from '../../src/agent/create-devices.ts'
import { createNodeAdmission } from '../../src/pods/admission/create-node-admission.ts'
import { createCriClient } from '../../src/protocols/cri/cri-client.ts'
import { fetchRuntimeVersion } from '../../src/protocols/cri/runtime-version.ts'
import { toRuntimeFeatures } from '../../src/protocols/cri/to-runtime-features.ts'
import type { CriCalls } from '../../src/protocols/cri/cri-calls.ts'
import { httpGet } from '../../src/protocols/http/http-get.ts'
import { ImagePuller } from '../../src/pods/images/image-puller.ts'
import type { PodStatus } from '../../src/model/generated/core-v1.ts'
import type { ResizeScope } from '../../src/model/resources/pod-allocation.ts'
import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import { noRuntimeClasses } from '../../src/agent/membership.ts'
import { createEnvironmentSources } from '../builders/create-environment-sources.ts'
import { Volumes } from '../../src/pods/volumes/volumes.ts'
import { toNodeSettings } from '../../src/pods/sync/to-node-settings.ts'
import { Observer } from '../../src/pods/observe/observer.ts'
import { runObserver } from '../../src/pods/observe/run-observer.ts'
import { RuntimeHealth } from '../../src/pods/observe/runtime-health.ts'
import { ExitJournal } from '../../src/pods/sync/report/exit-journal.ts'
import { crashBackOffLimits } from '../../src/pods/sync/decide/compute-crash-back-off.ts'
import { joinInjections } from '../../src/pods/sync/start/join-injections.ts'
import { PodRegistry } from '../../src/pods/sync/pod-registry.ts'
import { PodWorkers } from '../../src/pods/sync/pod-workers.ts'
import { PodResizes } from '../../src/pods/sync/resize/pod-resizes.ts'
import type { RuntimeClasses } from '../../src/pods/sync/start/runtime-classes.ts'
import type { ProbeMeasure } from '../../src/pods/probes/probe-deps.ts'
import { runProbe } from '../../src/pods/probes/run-probe.ts'
import type { PodCpus } from '../../src/node/cpus/pod-cpus.ts'
import type { PodMemory } from '../../src/node/memory/pod-memory.ts'
import { UnplacedMemory } from '../../src/node/memory/unplaced-memory.ts'
import type { PlacementPolicy } from '../../src/node/placement/placement-policy.ts'
import { joinPlacement } from '../../src/agent/create-node-placement.ts'
import { SharedCpus } from '../../src/node/cpus/shared-cpus.ts'
import { PodAllocations } from '../../src/pods/allocations/pod-allocations.ts'
import { UserNamespaces } from '../../src/node/user-namespaces/user-namespaces.ts'
import { PodConfigMux } from '../../src/pods/sources/pod-config-mux.ts'
import type { Logger } from '../../src/base/telemetry/logger.ts'
import { noTracer } from '../../src/base/telemetry/tracer.ts'
import type { Tracer } from '../../src/base/telemetry/tracer.ts'
import type { PodEvent, PodEvents } from '../../src/model/events/pod-events.ts'
import { uncountedPods } from '../fakes/uncounted-pods.ts'
import { openImages } from '../fakes/open-images.ts'
import type { FakeClock } from '../fakes/fake-clock.ts'
import type { FakeCri } from '../fakes/fake-cri.ts'
import type { FakePodCgroups } from '../fakes/fake-pod-cgroups.ts'
import type { FakeStateFile } from '../fakes/fake-state-file.ts'
import type { FakeJournalFiles } from '../fakes/fake-journal-files.ts'
import type { FakeVolumeNode } from '../fakes/fake-volume-node.ts'
import type { FakeUserNamespaceRecords } from '../fakes/fake-user-namespace-records.ts'
import { loadSettings } from '../fakes/load-settings.ts'
import { FakePodFiles } from './fake-pod-files.ts'

/** What outlives an agent: the machine with its runtime and its disk. */
export interface World {
  readonly clock: FakeClock
  readonly cri: FakeCri
  readonly files: FakePodFiles
  readonly journalFiles: FakeJournalFiles
  readonly cgroups: FakePodCgroups
  /** What is recorded of devices. */
  readonly deviceFile: FakeStateFile
  readonly stateFiles: { readonly allocated: FakeStateFile; readonly actuated: FakeStateFile }
  readonly userNamespaces: FakeUserNamespaceRecords
  readonly volumeNode: FakeVolumeNode
}

export interface AgentOptions {
  readonly flags?: readonly string[]
  readonly sources?: readonly string[]
  /** How many pods may start at the same time. */
  readonly places?: number
  /** What the agent can do beside what its runtime can. */
  readonly capabilities?: readonly PodCapability[]
  readonly allowedUnsafeSysctls?: readonly string[]
  /** What the node has for pods; plenty when nothing is said. */
  readonly allocatable?: Readonly<Record<string, string>>
  readonly runtimeClasses?: RuntimeClasses
  readonly resizeScope?: ResizeScope
  /** Whole CPUs belong to containers of Guaranteed pods. */
  readonly staticCpus?: boolean
  readonly staticMemory?: boolean
  readonly tracer?: Tracer
  /** The status of a pod may have changed. */
  readonly onStatus?: (uid: PodUid) => void
  /** What the node has is another now. */
  readonly onNode?: () => void
  /** Who gives containers CPUs; without, all share all. */
  readonly createCpus?: (parts: CpusParts) => Promise<PodCpus>
  /** Who gives containers memory of NUMA nodes; without, all may use all. */
  readonly createMemory?: (parts: CpusParts) => Promise<PodMemory>
  /** How near each other it must be; without, it does not matter. */
  readonly placementPolicy?: PlacementPolicy
  /** Who prepares the claims of pods; without, pods have none. */
  readonly createDra?: (parts: DraParts) => Promise<Dra>
  /** Where device plugins present themselves; without, nobody listens for them. */
  readonly deviceFolder?: string
  /** Why a pod may not run here. */
  readonly admit?: (pod: Pod) => Rejection | undefined
}

/** What those who give containers CPUs and memory act through. */
export interface CpusParts {
  readonly calls: CriCalls
  readonly observed: Observer
  readonly activePods: () => readonly Pod[]
  readonly clock: FakeClock
  readonly log: Logger
}

/** What the one who prepares claims acts through. */
export interface DraParts {
  readonly observer: Observer
  readonly registry: PodRegistry
  readonly events: PodEvents
  readonly group: TaskGroup
  readonly clock: FakeClock
  readonly log: Logger
}

const START_PATIENCE_MS = 5000
const IDS_PER_POD = 65_536
const PLENTY = { pods: '1000', cpu: '64', memory: '64Gi', 'ephemeral-storage': '1Ti', 'hugepages-2Mi': '1Gi' }
const REQUEST_TIMEOUT_MS = 120_000
const MAX_RESTART_PERIOD_MS = 300_000
const SYNC_FREQUENCY_MS = 60_000
// Real time: how long a test waits for something that should come at once.
const PATIENCE_MS = 5000
// Agent and runtime share one event loop, so a call that is not stuck moves on with its turns, however slow the machine is.
const QUIET_TURNS = 4
const STUCK_TURNS = 80

const MACHINE = {
  cgroupVersion: 2,
  onlineCpus: [0, 1],
  memoryBytes: 4n * 1024n ** 3n,
  swapBytes: 0n,
  swapController: false,
  hugepageSizes: [],
  thermalThrottlePaths: [],
  selinuxEnabled: false,
} as const

/** Waits, in real time, until something is true. */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!isTrue()) {
    if (performance.now() > giveUpAt) assert.fail(`expected soon: ${what}`)
    await setImmediate()
  }
}

export type Agent = Awaited<ReturnType<typeof startAgent>>

/** An agent without servers, file watching and a real disk: everything between the sources of pods and the runtime is the real thing. */
export async function startAgent(world: World, options: AgentOptions = {}) {
  const { clock, cri, files } = world
  const { sources = ['file'], places = 2 } = options
  const events: (PodEvent & { readonly uid: PodUid })[] = []
  const lines: LogLine[] = []
  const log = createRecordingLogger(lines)
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const client = createCriClient({
    runtimeEndpoint: cri.endpoint,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    tracer: options.tracer,
    clock,
    log,
  })
  const underWay = new Set<object>()
  const calls = trackCalls(client, underWay)
  const recorder = { record: (pod: Pod, event: PodEvent) => void events.push({ uid: pod.metadata.uid, ...event }) }
  const health = new RuntimeHealth({ client: calls, clock, log, onChange: () => registry.wakeAll() })
  const onChange = (uid: PodUid) => {
    workers.observed(uid)
    placement.wake()
  }
  const observer = new Observer({ runtime: calls, clock, onChange }, group.signal)
  const images = new ImagePuller({
    calls,
    clock,
    log,
    events: recorder,
    ...openImages,
    limits: { maxParallel: Infinity, perSecond: 0, burst: 1 },
  })
  const starts = new Turnstile({ places, patienceMs: START_PATIENCE_MS, clock })
  const execs = new Turnstile({ places: 4, patienceMs: START_PATIENCE_MS, clock })
  const probeRuns: ProbeMeasure[] = []
  const counted: string[] = []
  let drawn = 0
  const statuses: string[] = []
  const version = await fetchRuntimeVersion(client, stop.signal)
  const features = () => toRuntimeFeatures(health.abilities, version)
  const { allowedUnsafeSysctls = [] } = options
  const gates = (await loadSettings([])).gates
  const scope = options.resizeScope ?? { initContainers: true, podLevel: true }
  const allocations = await PodAllocations.load({ files: world.stateFiles, scope, log })
  const registry = new PodRegistry({ allocations, observedPods: observer, events: recorder, clock })
  const activePods = () => registry.activePods()
  const parts = { calls, observed: observer, activePods, clock, log }
  const cpus = await (options.createCpus ?? shareCpus)(parts)
  const memory = (await options.createMemory?.(parts)) ?? new UnplacedMemory()
  const dra = await options.createDra?.({ observer, registry, events: recorder, group, clock, log })
  for (const { name, run } of dra?.loops ?? []) group.run(name, run)
  const nodeEvents: string[] = []
  const devices = await joinDevices(
    {
      settings: { gates },
      folder: options.deviceFolder ?? '/nowhere',
      file: world.deviceFile,
      numaNodes: [0, 1],
      onNode: () => options.onNode?.(),
      onPod: (uid) => registry.wake(uid),
      events: { record: ({ reason }) => void nodeEvents.push(reason) },
      metrics: {
        devicePluginRegistered: (resource) => void counted.push(`registered ${resource}`),
        devicesAllocated: (resource) => void counted.push(`allocated ${resource}`),
        deviceRecordBroken: () => void counted.push('broken device record'),
      },
      clock,
      log,
    },
    group,
  )
  const placement = joinPlacement({
    policy: options.placementPolicy,
    others: [devices.provider],
    cpus,
    memory,
    metrics: { podPlaced: () => {}, placementAligned: () => {} },
    clock,
  })
  const admission = createNodeAdmission({
    settings: { gates, config: { allowedUnsafeSysctls } },
    kernel: { release: '6.1.0', appArmor: false },
    features,
    node: () => ({ metadata: { name: 'node-1' } }),
    allocatable: () => ({
      ...(options.allocatable ?? PLENTY),
      ...Object.fromEntries([...devices.info().allocatable].map(([name, count]) => [name, `${count}`])),
    }),
    granted: () => devices.granted(),
    activePods: () => registry.activePods().map((pod) => allocations.reserved(pod)),
    isShuttingDown: () => false,
    pressures: () => ({ memory: false, disk: false, pid: false }),
    providers: [placement],
    hasResourceClaims: dra !== undefined,
    declaredFeatures: undefined,
    evict: () => {},
    metrics: { preemption: () => {} },
    events: recorder,
  })
  const userNamespaces = await UserNamespaces.load({
    records: world.userNamespaces,
    range: { first: IDS_PER_POD, length: 4 * IDS_PER_POD },
    idsPerPod: IDS_PER_POD,
    random: () => 0,
    log,
  })
  const volumes = new Volumes({ ...world.volumeNode.deps, events: recorder, clock, log }, group)
  files.beforeRemove = (uid) => userNamespaces.release(uid)
  const resizes = new PodResizes({
    declaredFeatures: undefined,
    allocations,
    rules: {
      scope,
      staticCpus: options.staticCpus === true,
      staticMemory: options.staticMemory === true,
      usesSwap: () => false,
    },
    find: (uid) => registry.desired(uid),
    admit: (pod) => options.admit?.(pod) ?? admission.admitResize(pod),
    wake: (uid) => registry.wake(uid),
    events: recorder,
    metrics: {
      resizeRequested: ({ resource, requirement, operation }) =>
        void counted.push(`requested ${resource} ${requirement} ${operation}`),
      resizeInfeasible: (detail) => void counted.push(`infeasible ${detail}`),
      deferredResizeAccepted: (trigger) => void counted.push(`accepted ${trigger}`),
    },
    clock,
    log,
  })
  group.run('resizes', (signal) => resizes.run(signal))
  const workers: PodWorkers = new PodWorkers(
    {
      registry,
      podDeps: {
        calls,
        observer,
        images,
        volumes,
        injections: joinInjections([...(dra === undefined ? [] : [dra.injections]), devices.injections]),
        references: { register: () => {}, unregister: () => {} },
        features,
        runtimeClasses: options.runtimeClasses ?? noRuntimeClasses,
        userNamespaces,
        httpGet,
        files,
        cgroups: world.cgroups.calls,
        placement,
        allocations,
        resizes,
        journal: await ExitJournal.load({ files: world.journalFiles, log }),
        readEnvironment: async () => createEnvironmentSources(),
        events: recorder,
        starts,
        probes: {
          runProbe: (request, signal) => runProbe({ calls, execs, checkGrpcHealth: noGrpc, clock }, request, signal),
          notes: files.probeNotes,
          events: recorder,
          clock,
          log,
          // In the middle of the period: away from the moment in which everything starts here.
          random: () => 0.5,
          agentStartedAt: clock.monotonic(),
          onRun: (measure) => void probeRuns.push(measure),
          onEnded: () => {},
        },
        node: await createNodeSettings(options.flags),
        metrics: {
          ...uncountedPods,
          containerStart: (kind, failure) => void counted.push(`container ${kind} ${failure ?? 'ok'}`),
          sandboxStart: ({ failed }) => void counted.push(`sandbox ${failed ? 'failed' : 'ok'}`),
          podStart: (seconds) => void counted.push(`pod ${seconds}`),
          resizeActuated: (_, success) => void counted.push(`resized ${success}`),
        },
        noteStep: (_, work) => work(),
        tracer: options.tracer ?? noTracer,
        clock,
        log,
        // Small, so that waits are hardly longer than their base, and never the same twice.
        random: () => (drawn += 1) / 2 ** 32,
      },
      settings: {
        runtimeName: 'fake',
        backOffLimits: crashBackOffLimits(MAX_RESTART_PERIOD_MS),
        syncFrequencyMs: SYNC_FREQUENCY_MS,
        networkProblem: () => health.networkProblem,
      },
      capabilities: () => new Set([...admission.capabilities(), ...(options.capabilities ?? [])]),
      admit: (pod) => options.admit?.(pod) ?? admission.admit(allocations.allocated(pod)),
      adopt(pod) {
        placement.adopt(allocations.allocated(pod))
        devices.adopt(pod)
      },
      allocations,
      resizes,
      observedPods: observer,
      onStatus: (uid) => {
        const view = registry.views().find(({ pod }) => pod.metadata.uid === uid)
        const text = `${uid} ${view?.status.phase ?? 'gone'}`
        if (statuses.at(-1) !== text) statuses.push(text)
        options.onStatus?.(uid)
      },
      onEnded: (uid) => placement.release(uid),
      onGone: (uid) => {
        images.forget(uid)
        placement.release(uid)
      },
    },
    group,
  )
  await Promise.all([observer.relist(), volumes.adopt(), health.check(group.signal)])
  const running = observer.uids().flatMap((uid) => observer.get(uid) ?? [])
  await userNamespaces.adopt(running)
  await placement.find(running, group.signal)
  devices.find(running)
  let allSeen = false
  const mux = new PodConfigMux({
    sources,
    clock,
    onEvent: ({ pod, ...event }) => recorder.record(pod, event),
    deliver: (update) => workers.handle(update),
  })
  const onRelist = ({ error }: { readonly error?: unknown }) => {
    if (error !== undefined) log.warn('cannot relist the runtime, will try again', { error })
  }
  group.run('observer', (signal) => runObserver({ observer, client: calls, clock, log, onRelist }, signal))
  group.run('runtime health', (signal) => health.run(signal))
  group.run('placement', (signal) => placement.run(signal))
  if (options.deviceFolder !== undefined) group.run('devices', (signal) => devices.run(signal))
  const ended = group.join()
  // Whoever wants to know how it ended asks below; until then nobody listens.
  ended.catch(() => {})

  const settle = async () => {
    let before = ''
    for (let turns = 0; turns < (underWay.size === 0 ? QUIET_TURNS : STUCK_TURNS); turns += 1) {
      await setImmediate()
      const now = `${underWay.size} ${cri.called.length} ${events.length} ${lines.length}`
      if (now !== before) turns = 0
      before = now
    }
  }
  const leave = async () => {
    stop.abort(new ShutdownError('test ends'))
    try {
      await ended
    } finally {
      client.close()
    }
  }
  return {
    registry,
    workers,
    placement,
    devices,
    /** What was told about the node. */
    nodeEvents,
    volumes,
    observer,
    images,
    starts,
    group,
    health,
    events,
    lines,
    statuses,
    cgroupsRemoved: world.cgroups.removed,
    allocations,
    resizes,
    probeRuns,
    /** What metrics would show of starts. */
    counted,
    allSeen: () => allSeen,
    clock,
    log,
    recorder,
    /** The complete set of a source. */
    setPods(pods: readonly Pod[], source = 'file') {
      mux.set(source, pods)
      if (allSeen || !mux.allSeen()) return
      allSeen = true
      workers.sourcesReady()
      placement.sourcesReady()
      dra?.claims.sourcesReady()
      devices.sourcesReady((uid) => registry.isActive(uid) || observer.get(uid) !== undefined)
    },
    /** Until nothing more happens without time or the test moving on: no call is under way, or those that are hang. */
    settle,
    /** Moves time on in small steps, so that what each moment brings is over before the next one. */
    async pass(ms: number, step = 500) {
      await settle()
      for (let left = ms; left > 0; left -= step) {
        await clock.advance(Math.min(step, left))
        await settle()
      }
    },
    statusOf(uid: string): PodStatus | undefined {
      return registry.views().find(({ pod }) => pod.metadata.uid === uid)?.status
    },
    reasons(uid = 'u-1'): string[] {
      return events.filter((event) => event.uid === uid).map(({ reason }) => reason)
    },
    /** The agent leaves; rejects when something had failed. */
    leave,
    /** The agent is killed: nothing that it waits for reaches it any more. */
    async die() {
      client.close()
      await leave()
    },
    async [Symbol.asyncDispose]() {
      await leave()
    },
  }
}

/** Nothing in here speaks gRPC but the runtime. */
async function noGrpc(): Promise<never> {
  throw new Error('Cannot check gRPC health in this test')
}

interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

function createRecordingLogger(lines: LogLine[]): Logger {
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, message, fields })
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => createRecordingLogger(lines),
  }
}

/** The same calls; those under way are in the set. Streams are left out. */
function trackCalls<T extends CriCalls>(calls: T, underWay: Set<object>): T {
  const tracked = Object.entries(calls).map(([name, call]) => [
    name,
    typeof call !== 'function'
      ? call
      : (...args: unknown[]): unknown => {
          const result = (call as (...args: unknown[]) => unknown)(...args)
          if (!(result instanceof Promise)) return result
          underWay.add(result)
          const end = () => void underWay.delete(result)
          result.then(end, end)
          return result
        },
  ])
  return { ...calls, ...Object.fromEntries(tracked) }
}

/** A small node that is made up. */
export async function createNodeSettings(flags: readonly string[] = []) {
  const settings = await loadSettings([...flags])
  return toNodeSettings(settings, {
    machine: MACHINE,
    nodeIps: () => ['192.0.2.1'],
    allocatable: () => ({ cpu: '2', memory: String(MACHINE.memoryBytes) }),
    cgroups: { driver: 'cgroupfs', root: '/', perQos: true },
    resolvConf: 'nameserver 192.0.2.53\n',
  })
}

async function shareCpus({ observed, clock, log }: CpusParts): Promise<PodCpus> {
  const nobody = { readCpus: async () => undefined, setCpus: async () => {}, write: async () => {} }
  return new SharedCpus({ ...nobody, observed, giveBack: undefined, periodMs: 10_000, clock, log })
}

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { composeKubelet } from '../../src/agent/kubelet.ts'
import type { Cluster } from '../../src/agent/cluster/join-cluster.ts'
import { noRuntimeClasses } from '../../src/agent/cluster/membership.ts'
import type { Membership } from '../../src/agent/cluster/membership.ts'
import type { Edges, Host } from '../../src/agent/edges.ts'
import type { LogindAccess } from '../../src/node/shutdown/create-logind-access.ts'
import { ShutdownError } from '../../src/base/async/abort-errors.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { createVerbosity } from '../../src/base/telemetry/create-logger.ts'
import type { Logger } from '../../src/base/telemetry/logger.ts'
import type { Tracer } from '../../src/base/telemetry/tracer.ts'
import type { DeferredMetrics } from '../../src/metrics/defer-metrics.ts'
import type { PodEvent } from '../../src/model/events/pod-events.ts'
import type { PodStatus } from '../../src/model/generated/core-v1.ts'
import type { CpuPlace } from '../../src/model/resources/cpu-place.ts'
import { parseQuantity, quantityValue } from '../../src/model/resources/quantity.ts'
import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import type { StateFile } from '../../src/system/files/state/state-file.ts'
import { toNodeSettings } from '../../src/pods/sync/to-node-settings.ts'
import type { RuntimeClasses } from '../../src/pods/sync/start/runtime-classes.ts'
import { createCriClient } from '../../src/protocols/cri/cri-client.ts'
import type { CriCalls } from '../../src/protocols/cri/cri-calls.ts'
import type { CriClient } from '../../src/protocols/cri/cri-client.ts'
import { podNetwork } from '../../src/pods/probes/pod-network.ts'
import type { NumaNode } from '../../src/system/machine/hardware/read-numa-nodes.ts'
import { createSimulatedHost } from '../../src/simulation/machine/create-simulated-host.ts'
import { createNumaPlaces } from '../builders/placement-hints.ts'
import { FakeJournalFiles } from '../fakes/fake-journal-files.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import type { FakeClock } from '../fakes/fake-clock.ts'
import type { FakeCri } from '../fakes/fake-cri.ts'
import type { FakePodCgroups } from '../fakes/fake-pod-cgroups.ts'
import type { FakeVolumeNode } from '../fakes/fake-volume-node.ts'
import type { FakeUserNamespaceRecords } from '../fakes/fake-user-namespace-records.ts'
import { loadSettings } from '../fakes/load-settings.ts'
import type { FakePodFiles } from './fake-pod-files.ts'

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
  /** All other state files, by name. */
  readonly otherFiles: Map<string, StateFile>
  readonly userNamespaces: FakeUserNamespaceRecords
  readonly volumeNode: FakeVolumeNode
}

export interface AgentOptions {
  readonly flags?: readonly string[]
  /** Fields of the configuration file. */
  readonly config?: object
  readonly sources?: readonly string[]
  /** How many pods may start at the same time. */
  readonly places?: number
  /** What the node has for pods; plenty when nothing is said. */
  readonly allocatable?: Readonly<Record<string, string>>
  readonly runtimeClasses?: RuntimeClasses
  readonly tracer?: Tracer
  /** Small, and never the same twice, when nothing is said. */
  readonly random?: () => number
  readonly cpuPlaces?: readonly CpuPlace[]
  readonly numaNodes?: readonly NumaNode[]
  /** Where claims of devices are read; without, pods have none. */
  readonly dynamicResources?: Membership['dynamicResources']
  /** The cluster that the agent belongs to; without, to none. */
  readonly cluster?: Omit<Cluster, 'membership' | 'heartbeats' | 'certificates' | 'dropConnections' | 'loops'>
  /** Takes the reasons of events about the node. */
  readonly nodeEvents?: string[]
  /** Loops of the agent that run too, by name. */
  readonly loops?: readonly string[]
  /** The root directory, on the real disk: for loops that serve or find sockets. */
  readonly root?: string
  /** Announces shutdowns of the machine. */
  readonly logind?: LogindAccess
  /** Volumes of pods; without, those of the world in memory. */
  readonly openVolumes?: Host['openVolumes']
  /** Where objects that pods refer to are read; without, there are none. */
  readonly objects?: Membership['objects']
  /** Takes what metrics would show, beside what the agent gives. */
  readonly metrics?: Partial<DeferredMetrics>
}

const PLENTY = { pods: '1000', cpu: '64', memory: '64Gi', 'ephemeral-storage': '1Ti' }
const ROOT = '/root'
const CONFIG = '/kubelet.json'
const HUGEPAGES = [{ sizeBytes: 2n * 1024n ** 2n, count: 512n }]
// Pulls wait for nothing but the runtime, and all that the machine has is for pods.
const FLAGS = [
  `--config=${CONFIG}`,
  '--serialize-image-pulls=false',
  '--registry-qps=0',
  '--eviction-hard=memory.available<0%',
  '--cluster-dns=192.0.2.10',
]
// What goes on by itself in a test; all else is asked for, or would look at the machine that the tests run on.
const LOOPS = [
  'observer',
  'runtime health',
  'placement',
  'resizes',
  'remains of pods',
  'root directory',
  'resolver check',
  'claims of pods',
  'api source',
  'pods of the cluster',
]
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
  inUserNamespace: false,
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

/** The agent as it is composed for a machine, on one that is made up: only its edges are fakes. */
export async function startAgent(world: World, options: AgentOptions = {}) {
  const { clock, cri } = world
  const lines: LogLine[] = []
  const log = createRecordingLogger(lines)
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const resources = new DisposableStack()
  const underWay = new Set<object>()
  const seen = createRecords(options)
  const { events, counted } = seen
  const settings = await loadSettings(
    [...FLAGS, `--container-runtime-endpoint=${cri.endpoint}`, ...toFlags(options), ...(options.flags ?? [])],
    {
      [CONFIG]: JSON.stringify({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        ...options.config,
      }),
    },
  )
  let client: CriClient | undefined
  const life = { isOver: false }
  let drawn = 0
  const kubelet = await composeKubelet(
    {
      settings,
      machine: toMachine(options),
      objects: undefined,
      openFiles: Promise.resolve(1024),
      clock,
      log,
      // Small, so that waits are hardly longer than their base, and never the same twice.
      random: options.random ?? (() => (drawn += 1) / 2 ** 32),
      loopDelay: { percentile: () => 0 },
      memory: {
        idleCpuMs: () => 0,
        residentBytes: () => 0,
        collectGarbage: () => 0,
        trimMalloc: () => {},
        unmapCode: () => {},
      },
      environment: {},
      workingDirectory: '/',
      write: () => {},
      verbosity: createVerbosity(0),
      onReady: async () => {},
      giveUp: (error) => assert.fail(error),
      host: createHost(world, options, life),
      metrics: seen.metrics,
      connectRuntime: async (given) => (client = trackCalls(createCriClient(given), underWay)),
      openTracing: async () =>
        options.tracer && { tracer: options.tracer, run: async () => {}, [Symbol.dispose]: () => {} },
      join: async () => join(options, seen),
    },
    { tasks: group, resources },
  )
  const { runtime, registry, allocations, devices, pods, sources } = kubelet
  startLoops(kubelet, group, options)
  const ended = group.join()
  // A test that wants to know how it ended asks below; until then no caller listens.
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
      resources.dispose()
    }
  }
  return {
    kubelet,
    registry,
    workers: pods.workers,
    placement: devices.placement,
    devices: devices.plugins,
    dra: devices.dra,
    volumes: pods.volumes,
    observer: runtime.observer,
    images: pods.images.puller,
    starts: pods.starts,
    group,
    health: runtime.health,
    events,
    /** What was reported about the node. */
    nodeEvents: seen.nodeEvents,
    lines,
    cgroupsRemoved: world.cgroups.removed,
    allocations,
    resizes: pods.resizes,
    probeRuns: seen.probeRuns,
    /** What metrics would show of starts, resizes and devices. */
    counted,
    /** How many seconds after they were new statuses reached the API. */
    reported: seen.reported,
    clock,
    log,
    recorder: seen.recorder,
    /** The complete set of a source. */
    setPods: (pods: readonly Pod[], source = 'file') => sources.mux.set(source, pods),
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
      life.isOver = true
      client?.close()
      await leave()
    },
    async [Symbol.asyncDispose]() {
      await leave()
    },
  }
}

/** The options of several features together. */
export function combine(...all: readonly AgentOptions[]): AgentOptions {
  const flags = all.flatMap((each) => each.flags ?? [])
  const loops = all.flatMap((each) => each.loops ?? [])
  return Object.assign({}, ...all, { flags, loops })
}

/** Those that go on in every test, and those that this one asks for. */
function startLoops(
  { loops, lateLoops, serving }: Awaited<ReturnType<typeof composeKubelet>>,
  group: TaskGroup,
  { loops: asked = [] }: AgentOptions,
): void {
  const all = new Map([...loops, ...lateLoops, ...serving.lateLoops].map(({ name, run }) => [name, run]))
  for (const name of asked) assert.ok(all.has(name), `expected the agent to have a loop "${name}"`)
  for (const [name, run] of all) if (LOOPS.includes(name) || asked.includes(name)) group.run(name, run)
}

/** What the agent reports, for tests to read. */
function createRecords({ nodeEvents = [], metrics: given }: AgentOptions) {
  const events: (PodEvent & { readonly uid: PodUid })[] = []
  const counted: string[] = []
  const reported: number[] = []
  const probeRuns: { readonly result: string }[] = []
  const count = {
    containerStart: (kind, failure) => void counted.push(`container ${kind} ${failure ?? 'ok'}`),
    sandboxStart: ({ failed }) => void counted.push(`sandbox ${failed ? 'failed' : 'ok'}`),
    ownUsersStartFailed: () => void counted.push('own users failed'),
    podStart: (seconds) => void counted.push(`pod ${seconds}`),
    resizeActuated: (_, success) => void counted.push(`resized ${success}`),
    resizeRequested: ({ resource, requirement, operation }) =>
      void counted.push(`requested ${resource} ${requirement} ${operation}`),
    resizeInfeasible: (detail) => void counted.push(`infeasible ${detail}`),
    deferredResizeAccepted: (trigger) => void counted.push(`accepted ${trigger}`),
    devicePluginRegistered: (resource) => void counted.push(`registered ${resource}`),
    devicesAllocated: (resource) => void counted.push(`allocated ${resource}`),
    stateSetAside: (kind) => void counted.push(`set aside ${kind}`),
    podStatusReported: (seconds) => void reported.push(seconds),
    probe: (_, result) => void probeRuns.push({ result }),
    ...given,
  } satisfies Partial<DeferredMetrics>
  const uncounted = () => {}
  const metrics = new Proxy(count, { get: (all, name) => Reflect.get(all, name) ?? uncounted }) as DeferredMetrics &
    typeof count
  const recorder = { record: (pod: Pod, event: PodEvent) => void events.push({ uid: pod.metadata.uid, ...event }) }
  return { events, nodeEvents, counted, reported, probeRuns, metrics, recorder }
}

/** The flags that make a node of this kind. */
function toFlags({ sources = ['file'], allocatable = PLENTY, root }: AgentOptions): readonly string[] {
  return [
    `--max-pods=${allocatable['pods'] ?? PLENTY.pods}`,
    ...(sources.includes('file') ? ['--pod-manifest-path=/manifests'] : []),
    ...(sources.includes('http') ? ['--manifest-url=http://192.0.2.2/pods'] : []),
    ...(sources.includes('api') ? ['--kubeconfig=/kubeconfig'] : []),
    ...(root === undefined ? [] : [`--root-dir=${root}`]),
  ]
}

function amountOf({ allocatable = PLENTY }: AgentOptions, name: keyof typeof PLENTY): bigint {
  return quantityValue(parseQuantity(allocatable[name] ?? PLENTY[name]))
}

function toMachine(options: AgentOptions) {
  const cpus = options.cpuPlaces?.map(({ cpu }) => cpu) ?? [...Array(Number(amountOf(options, 'cpu'))).keys()]
  const pages = HUGEPAGES.reduce((sum, { sizeBytes, count }) => sum + sizeBytes * count, 0n)
  return { ...MACHINE, onlineCpus: cpus, memoryBytes: amountOf(options, 'memory') + pages }
}

function createHost(world: World, options: AgentOptions, life: { readonly isOver: boolean }): Host {
  const { cgroups } = world
  const files = (path: string): StateFile => {
    const name = basename(path)
    if (name === 'allocated_pods_state') return world.stateFiles.allocated
    if (name === 'actuated_pods_state') return world.stateFiles.actuated
    if (name === 'kubelet_internal_checkpoint') return world.deviceFile
    return world.otherFiles.getOrInsertComputed(name, () => new FakeStateFile(name))
  }
  const nodes = createNumaPlaces(2).map((place) => ({ ...place, memoryBytes: 0n, hugepages: [] }))
  const machine = createSimulatedHost({
    name: 'node-1',
    address: '192.0.2.1',
    storage: options.allocatable?.['ephemeral-storage'] ?? PLENTY['ephemeral-storage'],
    cpus: MACHINE.onlineCpus.length,
    bootedAt: 0,
    runtime: world.cri.runtime,
    usageOf: (container) => world.cri.usageOf(container),
    isAnswering: () => true,
  })
  return {
    ...machine,
    parallelStarts: { places: options.places ?? 2 },
    podNetwork,
    kernel: () => ({ release: '6.1.0', appArmor: false }),
    identity: () => ({ machineId: 'm', systemUuid: 's', bootId: 'b', kernelVersion: '6.1.0', osImage: 'none' }),
    hugepages: () => HUGEPAGES,
    numaNodes: () => options.numaNodes ?? nodes,
    cpuPlaces: () => options.cpuPlaces ?? [],
    prepareRoot: async () => options.root ?? ROOT,
    openLogind: async () => options.logind ?? (await machine.openLogind()),
    checkWritable: async () => {
      if (world.files.isReadOnly) throw new Error('EROFS: read-only file system')
    },
    openGuardedFiles: (signal) => ({ ...machine.openGuardedFiles(signal), ...world.volumeNode.guarded }),
    stateFile: files,
    recordFolder: (path) => (path.endsWith('finished-pods') ? world.journalFiles : new FakeJournalFiles()),
    podFiles: () => filesWhile(life, world.files.calls),
    userNamespaceRecords: () => world.userNamespaces,
    openCgroups: async (deps, signal) => ({
      ...(await machine.openCgroups(deps, signal)),
      pods: cgroups.calls,
      moves: cgroups.moves,
    }),
    openVolumes: options.openVolumes ?? (() => world.volumeNode.deps),
  }
}

/** The same files; an agent that was killed notes nothing more about the ends of pods. */
function filesWhile(life: { readonly isOver: boolean }, files: ReturnType<Host['podFiles']>): typeof files {
  const { terminationNotes } = files
  const write = async (uid: string, text: string) => {
    if (!life.isOver) await terminationNotes.write(uid, text)
  }
  return { ...files, terminationNotes: { ...terminationNotes, write } }
}

function join(options: AgentOptions, seen: ReturnType<typeof createRecords>): Awaited<ReturnType<Edges['join']>> {
  const membership: Membership = {
    objects: options.objects,
    dynamicResources: options.dynamicResources,
    podEvents: seen.recorder,
    nodeEvents: { record: ({ reason }) => void seen.nodeEvents.push(reason) },
    runtimeClasses: options.runtimeClasses ?? noRuntimeClasses,
    services: () => ({ kind: 'found', value: [] }),
    servicesRead: async () => {},
    nodeTtlMs: () => undefined,
  }
  const cluster = options.cluster && {
    ...options.cluster,
    membership,
    heartbeats: options.cluster.client,
    certificates: undefined,
    dropConnections: () => {},
    loops: [],
  }
  return { cluster, membership }
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
    sandboxSeccompProfile: undefined,
    machine: MACHINE,
    nodeIps: () => ['192.0.2.1'],
    allocatable: () => ({ cpu: '2', memory: String(MACHINE.memoryBytes) }),
    cgroups: { driver: 'cgroupfs', root: '/', perQos: true },
  })
}

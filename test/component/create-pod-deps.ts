import { TaskGroup } from '../../src/base/async/task-group.ts'
import { Turnstile } from '../../src/base/async/turnstile.ts'
import { CriCallError } from '../../src/protocols/cri/cri-call-error.ts'
import type { CallErrorCode } from '../../src/protocols/grpc/grpc-call-error.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../src/model/pod/observed-pod.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { PodUid } from '../../src/model/pod/pod.ts'
import type { RuntimeFeatures } from '../../src/model/pod/runtime-features.ts'
import { noRuntimeClasses } from '../../src/agent/cluster/membership.ts'
import { createEnvironmentSources } from '../builders/create-environment-sources.ts'
import { Volumes } from '../../src/pods/volumes/volumes.ts'
import { ExitJournal } from '../../src/pods/sync/report/exit-journal.ts'
import { PodAllocations } from '../../src/pods/allocations/pod-allocations.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import type { PodWorkersDeps } from '../../src/pods/sync/pod-workers.ts'
import type { LogFields, Logger } from '../../src/base/telemetry/logger.ts'
import type { NoteStep } from '../../src/base/telemetry/note-step.ts'
import { noTracer } from '../../src/base/telemetry/tracer.ts'
import type { PodEvents } from '../../src/model/events/pod-events.ts'
import { uncountedPods } from '../fakes/uncounted-pods.ts'
import { FakeVolumeNode } from '../fakes/fake-volume-node.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakeJournalFiles } from '../fakes/fake-journal-files.ts'
import { noInjections } from '../fakes/no-injections.ts'
import { noCgroups } from '../fakes/no-cgroups.ts'
import { createNodeSettings } from './create-agent.ts'
import { FakePodFiles } from './fake-pod-files.ts'

type PodDeps = PodWorkersDeps['podDeps'] & { readonly noteStep: NoteStep }
type Calls = PodDeps['calls']

/** A runtime that reports no features. */
const PLAIN_FEATURES: RuntimeFeatures = {
  handlers: new Map(),
  supplementalGroupsPolicy: false,
  imageVolumes: 'none',
  stopSignals: true,
}

/** What a worker acts through; each call of the runtime is answered by a line of the test, and the journal has all that is done, in order. */
export async function createPodDeps(parts: Partial<PodDeps> = {}, answers: Partial<Calls> = {}) {
  const clock = new FakeClock()
  const files = new FakePodFiles()
  const journal: string[] = []
  const events: string[] = []
  const lines: string[] = []
  const references = new Set<PodUid>()
  let observed: ObservedPod | undefined
  const say = (level: string) => (message: string, _fields?: LogFields) => void lines.push(`${level} ${message}`)
  const log: Logger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    child: () => log,
  }
  const node = new FakeVolumeNode()
  const recorder: PodEvents = {
    record: (_, { type, reason, message }) => void events.push(`${type} ${reason} ${message}`),
  }
  const allocations = await PodAllocations.load({
    files: { allocated: new FakeStateFile('allocated'), actuated: new FakeStateFile('actuated') },
    scope: { initContainers: true, podLevel: true },
    log,
  })
  const deps: PodDeps = {
    calls: journaled(journal, { ...defaultAnswers(), ...answers }),
    observer: { get: () => observed, refresh: async () => (journal.push('refresh'), observed), outdate: () => {} },
    volumes: new Volumes({ ...node.deps, events: recorder, clock, log }, new TaskGroup(new AbortController().signal)),
    injections: noInjections,
    onGarbageFailure: (why) => void events.push(`garbage: ${why}`),
    references: {
      register: ({ metadata }) => void references.add(metadata.uid),
      unregister: (uid) => void references.delete(uid),
    },
    images: {
      ensure: async () => ({ ref: 'sha256:1', uid: undefined, username: '' }),
      ensureVolume: async () => ({ ref: 'sha256:2', uid: undefined, username: '' }),
    },
    features: () => PLAIN_FEATURES,
    cdiFault: async () => undefined,
    runtimeClasses: noRuntimeClasses,
    userNamespaces: { acquire: async () => ({ uids: [], gids: [] }) },
    httpGet: async () => ({ status: 200, body: '' }),
    files,
    terminations: { notes: files.terminationNotes, bootId: 'b', isNodeEnding: () => false },
    cgroups: {
      ...noCgroups,
      remove: async (uid) => void journal.push(`removeCgroup ${uid}`),
      killContainer: async (uid, id) => void journal.push(`killContainer ${uid} ${id}`),
    },
    placement: { prepare: async () => undefined, hasExclusive: () => false },
    allocations,
    resizes: { conditions: () => [], observed: () => {}, failed: () => {} },
    journal: await ExitJournal.load({ files: new FakeJournalFiles(), log }),
    readEnvironment: async () => createEnvironmentSources(),
    events: recorder,
    starts: new Turnstile({ places: 2, patienceMs: 1000, clock }),
    ends: new Turnstile({ places: 2, patienceMs: 1000, clock }),
    probes: {
      runProbe: async () => ({ result: 'success', output: '' }),
      notes: files.probeNotes,
      events: { record: () => {} },
      clock,
      log,
      random: () => 0,
      agentStartedAt: clock.monotonic(),
      onRun: () => {},
      onEnded: () => {},
    },
    node: await createNodeSettings(),
    metrics: uncountedPods,
    noteStep: (_, work) => work(),
    tracer: noTracer,
    clock,
    log,
    random: () => 0,
    ...parts,
  }
  return {
    deps,
    allocations,
    volumeNode: node,
    references,
    clock,
    files,
    journal,
    events,
    lines,
    observe: (pod: ObservedPod | undefined) => {
      observed = pod
    },
  }
}

function defaultAnswers(): Calls {
  const empty = async () => ({})
  return {
    runPodSandbox: async () => ({ podSandboxId: 's-1' }),
    podSandboxStatus: async () => ({ status: { network: { ip: '10.0.0.1', additionalIps: [{ ip: 'fd00::1' }] } } }),
    createContainer: async () => ({ containerId: 'c-new' }),
    startContainer: empty,
    stopContainer: empty,
    execSync: async () => ({ exitCode: 0 }),
    removeContainer: empty,
    containerdDeleteTask: async () => {},
    stopPodSandbox: empty,
    removePodSandbox: empty,
    updateContainerResources: empty,
    updatePodSandboxResources: empty,
  } as unknown as Calls
}

/** Writes each call with what it is about, such as "stopContainer c-1 30". */
function journaled(journal: string[], calls: Calls): Calls {
  const entries = Object.entries(calls).map(([name, call]) => [
    name,
    (request: Readonly<Record<string, unknown>>, signal: AbortSignal) => {
      const about = [request['containerId'] ?? request['podSandboxId'], request['timeout']]
      journal.push([name, ...about.filter((part) => part !== undefined)].map(String).join(' '))
      return (call as (request: object, signal: AbortSignal) => unknown)(request, signal)
    },
  ])
  return Object.fromEntries(entries) as Calls
}

/** An answer that is a failure of the runtime. */
export function failing(code: CallErrorCode, detail = 'planned') {
  return async (): Promise<never> => {
    throw new CriCallError('call', code, detail)
  }
}

export function createObservedPod(parts: Partial<ObservedPod> = {}): ObservedPod {
  return { uid: parsePodUid('u-1'), name: 'web', namespace: 'shop', sandboxes: [], containers: [], ...parts }
}

export function createObservedSandbox(parts: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return { id: 's-1', attempt: 0, ready: true, createdAt: 0, hostNetwork: false, ips: ['10.0.0.1'], ...parts }
}

export function createObservedContainer(parts: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: 'c-1',
    name: 'main',
    sandboxId: 's-1',
    state: 'running',
    hash: '',
    restartCount: 0,
    createdAt: 0,
    startedAt: 0,
    runsSince: 0,
    finishedAt: 0,
    endSeenAt: parts.finishedAt ?? 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'registry.test/app:1',
    imageRef: 'sha256:1',
    logPath: '',
    terminationLog: '',
    ...parts,
  }
}

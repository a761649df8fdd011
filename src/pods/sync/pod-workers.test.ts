import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createObservedPod, createObservedSandbox, createPodDeps } from '../../../test/component/create-pod-deps.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { CONFIG_SOURCE_ANNOTATION, parsePodUid } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { crashBackOffLimits } from './decide/compute-crash-back-off.ts'
import { PodRegistry } from './pod-registry.ts'
import { PodWorkers } from './pod-workers.ts'

async function setUp() {
  const made = await createPodDeps()
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const runtimeHas = new Map<PodUid, ObservedPod>()
  const gone: PodUid[] = []
  const adopted: PodUid[] = []
  const observedPods = {
    lastRelistAt: undefined as number | undefined,
    uids: () => [...runtimeHas.keys()],
    get: (uid: PodUid) => runtimeHas.get(uid),
  }
  const { allocations, clock } = made
  const registry = new PodRegistry({ allocations, observedPods, events: made.deps.events, clock })
  const workers = new PodWorkers(
    {
      registry,
      podDeps: made.deps,
      settings: {
        runtimeName: 'fake',
        backOffLimits: crashBackOffLimits(300_000),
        syncFrequencyMs: 60_000,
        networkProblem: () => 'not yet',
      },
      allocations: made.allocations,
      resizes: { added: () => {}, updated: () => {}, sourcesReady: () => {}, forget: () => {}, retry: () => {} },
      capabilities: () => new Set(['runtimeStopSignals'] as const),
      admit: () => undefined,
      adopt: (pod) => void adopted.push(pod.metadata.uid),
      observedPods,
      onStatus: () => {},
      onEnded: () => {},
      onGone: (uid) => void gone.push(uid),
    },
    group,
  )
  return {
    ...made,
    registry,
    workers,
    runtimeHas,
    observedPods,
    gone,
    adopted,
    stop,
    end: async () => (stop.abort(), await group.join()),
  }
}

function createStaticPod(uid: string, creationTimestamp = ''): Pod {
  return createPod({ metadata: { uid, creationTimestamp, annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } } })
}

describe('PodWorkers', () => {
  test('begins one worker for each pod, the oldest first', async () => {
    const { workers, registry, lines, end } = await setUp()
    const pods = ['b', 'a'].map((uid) =>
      createPod({ metadata: { uid, name: uid, creationTimestamp: `2026-01-01T00:00:0${uid === 'a' ? 1 : 2}Z` } }),
    )
    workers.handle({ operation: 'ADD', pods })
    assert.deepEqual(
      registry.views().map(({ pod, status }) => [pod.metadata.uid, status.phase]),
      [
        ['a', 'Pending'],
        ['b', 'Pending'],
      ],
    )
    assert.equal(workers.size, 2)
    assert.deepEqual(lines, ['info pod added', 'info pod added'])
    await end()
  })

  test('takes no step for a pod that it does not know', async () => {
    const { workers, end } = await setUp()
    for (const operation of ['UPDATE', 'DELETE', 'REMOVE', 'RECONCILE'] as const)
      workers.handle({ operation, pods: [createPod()] })
    assert.equal(workers.size, 0)
    await end()
  })

  test('shows the newest desired pod, and no more once the pod is not wanted', async () => {
    const { workers, registry, clock, end } = await setUp()
    workers.handle({ operation: 'ADD', pods: [createPod()] })
    const changed = createPod({ metadata: { labels: { a: 'b' } } })
    workers.handle({ operation: 'UPDATE', pods: [changed] })
    assert.deepEqual(registry.views()[0]?.pod, changed)
    workers.handle({ operation: 'REMOVE', pods: [changed] })
    assert.deepEqual(registry.views(), [])
    assert.equal(registry.knows(changed.metadata.uid), true)
    await clock.advance(5000)
    assert.equal(registry.knows(changed.metadata.uid), false)
    await end()
  })

  test('forgets all of a pod that is gone', async () => {
    const { workers, clock, gone, end } = await setUp()
    workers.handle({ operation: 'ADD', pods: [createPod()] })
    workers.handle({ operation: 'REMOVE', pods: [createPod()] })
    await clock.advance(5000)
    assert.deepEqual([workers.size, gone, clock.sleeping], [0, ['u-1'], 0])
    await end()
  })

  test('lets the first that waits for a name have it, and the others wait on', async () => {
    const { workers, registry, clock, lines, end } = await setUp()
    workers.handle({ operation: 'ADD', pods: [createStaticPod('a')] })
    workers.handle({ operation: 'ADD', pods: [createStaticPod('b'), createStaticPod('c')] })
    await clock.advance(0)
    const reported = () => registry.views().flatMap(({ pod, status }) => (status.conditions ? [pod.metadata.uid] : []))
    assert.deepEqual(reported(), ['a'], 'only this one was checked')
    workers.handle({ operation: 'REMOVE', pods: [createStaticPod('a')] })
    await clock.advance(0)
    assert.deepEqual(reported(), ['b'])
    workers.handle({ operation: 'REMOVE', pods: [createStaticPod('b')] })
    await clock.advance(0)
    assert.deepEqual(reported(), ['c'])
    assert.equal(lines.filter((line) => line.includes('failed')).length, 0)
    await end()
  })

  test('makes orphans of unknown pods only when all sources are ready, and of each only one', async () => {
    const { workers, registry, runtimeHas, lines, end } = await setUp()
    const uid = parsePodUid('orphan')
    runtimeHas.set(uid, createObservedPod({ uid, sandboxes: [createObservedSandbox()] }))
    workers.observed(uid)
    assert.equal(workers.size, 0)
    workers.sourcesReady()
    workers.observed(uid)
    workers.observed(parsePodUid('never-seen'))
    assert.equal(workers.size, 1)
    assert.deepEqual(registry.views(), [])
    assert.deepEqual(lines, ['warn pod of the runtime is unknown to all sources, removing it'])
    await end()
  })

  test('knows all active pods once every pod of the runtime is known, or all sources are', async () => {
    const { workers, registry, runtimeHas, observedPods, end } = await setUp()
    const listed = () => registry.allActivePods()?.map(({ metadata }) => metadata.uid)
    assert.equal(listed(), undefined)
    observedPods.lastRelistAt = 1
    assert.deepEqual(listed(), [])
    for (const uid of ['known', 'unknown'] as PodUid[])
      runtimeHas.set(uid, createObservedPod({ uid, sandboxes: [createObservedSandbox()] }))
    workers.handle({ operation: 'ADD', pods: [createPod({ metadata: { uid: 'known' } })] })
    assert.equal(listed(), undefined)
    workers.sourcesReady()
    assert.deepEqual(listed(), ['known'])
    await end()
  })

  test('reports what it ignores and rejects, and shows a rejected pod as failed', async () => {
    const { workers, registry, events, end } = await setUp()
    const containers = [createContainer({ lifecycle: { stopSignal: 'SIGUSR1' } })]
    const pod = createPod({ spec: { hostUsers: false, containers } })
    workers.handle({ operation: 'ADD', pods: [pod] })
    assert.equal(workers.size, 0)
    assert.deepEqual(
      events.map((event) => event.split(':')[0]),
      [
        'Warning UnsupportedField Rejected spec.hostUsers',
        'Warning UnsupportedField Ignored spec.containers[0].lifecycle.stopSignal',
      ],
    )
    const [view] = registry.views()
    assert.deepEqual([view?.status.phase, view?.status.reason], ['Failed', 'UnsupportedField'])
    assert.deepEqual(
      registry.explain().map(({ name, state, why }) => ({ name, state, why })),
      [{ name: pod.metadata.name, state: 'terminated', why: `${view?.status.message} (UnsupportedField)` }],
    )
    workers.handle({ operation: 'REMOVE', pods: [pod] })
    assert.deepEqual([registry.views(), registry.explain()], [[], []])
    await end()
  })

  test('reports a pod as it is, and no more once it is not wanted', async () => {
    const { workers, registry, clock, end } = await setUp()
    const pod = createPod({ status: { phase: 'Running' } })
    const { uid } = pod.metadata
    workers.handle({ operation: 'ADD', pods: [pod] })
    assert.deepEqual(registry.view(uid), { pod, status: pod.status, mayRun: true, isFinished: false })
    const deleted = createPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
    workers.handle({ operation: 'DELETE', pods: [deleted] })
    await clock.advance(0)
    const { status, ...report } = registry.view(uid) ?? {}
    assert.deepEqual([report, status?.phase], [{ pod: deleted, mayRun: false, isFinished: true }, 'Failed'])
    workers.handle({ operation: 'REMOVE', pods: [deleted] })
    assert.equal(registry.view(uid), undefined)
    await end()
  })

  test('only ends what is terminal when it is first seen, and does nothing for what never ran', async () => {
    const { workers, registry, clock, journal, end } = await setUp()
    const ran = createPod({ metadata: { uid: 'ran' }, status: { phase: 'Succeeded', containerStatuses: [finished] } })
    const rejected = createPod({ metadata: { uid: 'rejected' }, status: { phase: 'Failed', reason: 'OutOfcpu' } })
    workers.handle({ operation: 'ADD', pods: [ran, rejected] })
    await clock.advance(0)
    for (const pod of [ran, rejected]) {
      const { status, mayRun, isFinished } = registry.view(pod.metadata.uid) ?? {}
      assert.deepEqual([status?.phase, mayRun, isFinished], [pod.status?.phase, false, true])
    }
    assert.deepEqual(registry.view(rejected.metadata.uid)?.status, rejected.status)
    assert.equal(registry.view(ran.metadata.uid)?.status.containerStatuses?.[0]?.state?.terminated?.exitCode, 0)
    assert.deepEqual(
      journal.filter((line) => line !== 'refresh'),
      ['removeCgroup rejected', 'removeCgroup ran'],
    )
    await end()
  })

  test('reports a rejected pod, and ends what runs of it when it is deleted', async () => {
    const { workers, registry, runtimeHas, clock, end } = await setUp()
    const pod = createPod({ spec: { hostUsers: false } })
    const { uid } = pod.metadata
    workers.handle({ operation: 'ADD', pods: [pod] })
    assert.deepEqual([registry.view(uid)?.mayRun, registry.view(uid)?.isFinished], [false, true])
    runtimeHas.set(uid, createObservedPod({ uid, sandboxes: [createObservedSandbox()] }))
    assert.deepEqual([registry.view(uid)?.mayRun, registry.view(uid)?.isFinished], [true, false])
    workers.handle({ operation: 'RECONCILE', pods: [pod] })
    assert.equal(workers.size, 0)
    const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    workers.handle({ operation: 'DELETE', pods: [{ ...pod, metadata }] })
    assert.equal(workers.size, 1)
    await clock.advance(0)
    await end()
  })

  test('gives up waiting for the end of a pod that is evicted and does not end', async () => {
    const { workers, registry, clock, events, deps, stop, end } = await setUp()
    const pod = createPod()
    workers.handle({ operation: 'ADD', pods: [pod] })
    await clock.advance(0)
    const held = Promise.withResolvers<undefined>()
    deps.observer.refresh = () => held.promise
    const eviction = { reason: 'Evicted', message: 'low on memory', disruption: undefined, graceSeconds: 20 }
    const evicted = assert.rejects(registry.evict(pod.metadata.uid, eviction, stop.signal), /no end after 30000 ms/)
    await clock.advance(30_000)
    await evicted
    assert.ok(events.some((event) => event.startsWith('Warning ExceededGracePeriod')))
    await registry.evict(parsePodUid('unknown'), eviction, stop.signal)
    held.resolve(undefined)
    await end()
  })
})

const finished = {
  name: 'main',
  ready: false,
  restartCount: 0,
  image: 'a',
  imageID: 'b',
  state: { terminated: { exitCode: 0 } },
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodDeps,
  failing,
} from '../../../test/component/create-pod-deps.ts'
import { CgroupError } from '../../model/resources/cgroup-error.ts'
import { containerHash } from '../../model/pod/container-hash.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import { PodProbes } from '../probes/pod-probes.ts'
import { crashBackOffKey, crashBackOffLimits } from './decide/compute-crash-back-off.ts'
import { createPodHistory } from './pod-history.ts'
import type { PodDeps } from './pod-worker.ts'
import { syncPod } from './sync-pod.ts'
import { PodTermination } from './stop/pod-termination.ts'

const never = new AbortController().signal
const container = createContainer()
const hash = containerHash(container)

async function setUp(spec: Partial<PodSpec> = {}, answers: Partial<PodDeps['calls']> = {}) {
  const made = await createPodDeps({}, answers)
  const observer = { ...made.deps.observer }
  const history = createPodHistory()
  let network: string | undefined
  const settings = {
    runtimeName: 'fake',
    backOffLimits: crashBackOffLimits(300_000),
    syncFrequencyMs: 60_000,
    networkProblem: () => network,
  }
  const pod = createPod({ spec: { dnsPolicy: 'Default', containers: [container], ...spec } })
  const probes = new PodProbes(made.deps.probes, {
    observed: () => made.deps.observer.get(pod.metadata.uid),
    podIp: () => '',
    onAnswer: () => {},
    onChange: async () => {},
  })
  const termination = new PodTermination(made.deps, pod.metadata.uid)
  const reported: (string | undefined)[] = []
  const onStatus = () => void reported.push(history.status?.containerStatuses?.[0]?.state?.waiting?.reason)
  const sync = (signals = { shutdown: never, superseded: never }) =>
    syncPod({ deps: { ...made.deps, observer }, settings, history, termination, probes, onStatus }, pod, signals)
  return {
    ...made,
    observer,
    history,
    sync,
    reported,
    setNetwork: (problem: string | undefined) => (network = problem),
  }
}

function seen(...containers: readonly Partial<ObservedContainer>[]) {
  return createObservedPod({
    sandboxes: [createObservedSandbox()],
    containers: containers.map((parts) => createObservedContainer({ hash, ...parts })),
  })
}

describe('syncPod()', () => {
  test('has nothing to do for a pod that runs', async () => {
    const { sync, observe, journal } = await setUp()
    const pod = seen({})
    observe(pod)
    assert.deepEqual(await sync(), { kind: 'wait', ms: 60_000, seen: pod })
    assert.deepEqual(journal, [])
  })

  test('starts nothing without the cgroup that limits it, and tries again', async () => {
    const { sync, deps, history, journal } = await setUp()
    deps.cgroups.ensure = async () => {
      throw new CgroupError('Cannot make the cgroup of the pod: ENOSPC')
    }
    assert.deepEqual(await sync(), { kind: 'wait', ms: 10_000, seen: undefined })
    assert.deepEqual(journal, ['refresh'])
    assert.equal(history.problem, 'Waits for its cgroup: Cannot make the cgroup of the pod: ENOSPC')
  })

  test('starts a pod and checks at once whether that is all', async () => {
    const { sync, observe, history, journal } = await setUp({}, { startContainer: async () => (observe(seen({})), {}) })
    assert.deepEqual(await sync(), { kind: 'again' })
    assert.equal(history.status?.phase, 'Running')
    assert.equal(journal.at(-1), 'refresh')
    assert.equal(history.unsure, false)
  })

  test('says what is true before it does what may take long, and only then', async () => {
    const { sync, observe, reported } = await setUp({}, { startContainer: async () => (observe(seen({})), {}) })
    await sync()
    assert.deepEqual(reported, ['ContainerCreating'])
    await sync()
    assert.deepEqual(reported, ['ContainerCreating'])
  })

  test('does not repeat at once what changed nothing', async () => {
    const { sync, observe, journal } = await setUp({
      restartPolicy: 'Never',
      containers: [container, createContainer({ name: 'b' })],
    })
    const lost = createObservedPod({
      sandboxes: [createObservedSandbox({ ready: false })],
      containers: [createObservedContainer({ hash, state: 'running' })],
    })
    observe(lost)
    assert.deepEqual(await sync(), { kind: 'wait', ms: 60_000, seen: lost })
    assert.deepEqual(journal, ['stopContainer c-1 2', 'stopPodSandbox s-1', 'refresh'])
  })

  test('is finished with a pod that never restarts and lost its sandbox before all containers had run', async () => {
    const { sync, observe, history } = await setUp({
      restartPolicy: 'Never',
      containers: [container, createContainer({ name: 'b' })],
    })
    observe({ ...seen({ state: 'exited' }), sandboxes: [createObservedSandbox({ ready: false })] })
    assert.deepEqual(await sync(), { kind: 'finished' })
    assert.deepEqual([history.status?.phase, history.status?.reason], ['Failed', 'SandboxLost'])
  })

  test('is finished with a pod that has ended', async () => {
    const { sync, observe, history } = await setUp({ restartPolicy: 'Never' })
    observe(seen({ state: 'exited' }))
    assert.deepEqual(await sync(), { kind: 'finished' })
    assert.equal(history.status?.phase, 'Succeeded')
  })

  test('reports a missing network once, and again when it is missing again', async () => {
    const { sync, setNetwork, events, observe } = await setUp()
    setNetwork('no plugin')
    assert.deepEqual(await sync(), { kind: 'wait', ms: 1000, seen: undefined })
    await sync()
    setNetwork(undefined)
    observe(seen({}))
    await sync()
    setNetwork('no plugin')
    await sync()
    const reported = 'Warning NetworkNotReady network is not ready: no plugin'
    assert.deepEqual(events, [reported, reported])
  })

  test('asks the runtime before it does anything after an action whose result it could not observe', async () => {
    const { sync, observer, journal, history } = await setUp()
    const refresh = observer.refresh.bind(observer)
    const fails = failing('DeadlineExceeded')
    observer.refresh = async (uid) => (journal.includes('runPodSandbox') ? await fails() : await refresh(uid))
    assert.deepEqual(await sync(), { kind: 'wait', ms: 10_000, seen: undefined })
    assert.equal(history.unsure, true)
    journal.length = 0
    // What is known without asking is still that there is nothing.
    observer.refresh = async (uid) => (await refresh(uid), seen({}))
    assert.equal((await sync()).kind, 'wait')
    assert.deepEqual(journal, ['refresh'], 'nothing is made a second time')
  })

  test('reports a pod about which the runtime says nothing, but not that the runtime is away', async () => {
    for (const [code, reported] of [
      ['Unknown', /^Warning FailedSync error determining status: rpc error: code = Unknown desc = /],
      ['Unavailable', /^undefined$/],
    ] as const) {
      const { sync, observer, events } = await setUp()
      observer.refresh = failing(code)
      await sync()
      assert.match(String(events[0]), reported)
    }
  })

  test('asks whether a container that was made has been started since, before it makes way for another', async () => {
    const { sync, observer, observe, journal } = await setUp()
    observe(seen({ state: 'created' }))
    observer.refresh = async () => (journal.push('refresh'), seen({}))
    await sync()
    assert.deepEqual(journal, ['refresh'])
  })

  test('waits longer for a runtime that fails than for one that is away', async () => {
    for (const [code, ms] of [
      ['Unknown', 10_000],
      ['Unavailable', 1000],
    ] as const) {
      const { sync, lines } = await setUp({}, { runPodSandbox: failing(code) })
      assert.deepEqual(await sync(), { kind: 'wait', ms, seen: undefined })
      assert.deepEqual(lines, ['warn cannot sync pod, will try again'])
    }
  })

  test('goes on at once when what seemed to fail is there', async () => {
    const { sync, observe } = await setUp(
      {},
      {
        runPodSandbox: async () => {
          observe(seen())
          return await failing('DeadlineExceeded')()
        },
      },
    )
    assert.deepEqual(await sync(), { kind: 'again' })
  })

  test('remembers why there is no sandbox until there is one', async () => {
    let works = false
    const { sync, history, clock } = await setUp(
      {},
      {
        runPodSandbox: async () => {
          if (!works) return await failing('Unknown', 'no handler "gvisor"')()
          return { podSandboxId: 's-1' }
        },
      },
    )
    await sync()
    assert.equal(
      history.problem,
      'Waits: Failed to create pod sandbox: rpc error: code = Unknown desc = no handler "gvisor"',
    )
    works = true
    await clock.advance(1000)
    await sync()
    assert.equal(history.problem, undefined)
  })

  test('waits between two sandboxes that die at once', async () => {
    const dead = createObservedPod({ sandboxes: [createObservedSandbox({ ready: false })] })
    const { sync, observe, journal, clock } = await setUp()
    observe(dead)
    await sync()
    journal.length = 0
    await clock.advance(400)
    assert.deepEqual(await sync(), { kind: 'wait', ms: 600, seen: dead })
    assert.equal(journal.length, 0)
    await clock.advance(600)
    await sync()
    assert.ok(journal.includes('runPodSandbox'))
  })

  test('waits for the end of the back-off', async () => {
    const { sync, observe, history, clock } = await setUp()
    history.backOff.set(crashBackOffKey(container), { delayMs: 20_000, lastStartAt: clock.now() })
    observe(seen({ state: 'exited', exitCode: 1, finishedAt: clock.now() - 5000 }))
    const result = await sync()
    assert.equal(result.kind === 'wait' && result.ms, 15_000)
  })

  test('never waits past the deadline of the pod, and then ends it', async () => {
    const { sync, observe, history, clock, events } = await setUp({ activeDeadlineSeconds: 20 })
    observe({ ...seen({}), sandboxes: [createObservedSandbox({ createdAt: clock.now() })] })
    const first = await sync()
    assert.equal(first.kind === 'wait' && first.ms, 20_000)
    await clock.advance(20_000)
    assert.deepEqual(await sync(), { kind: 'finished' })
    assert.deepEqual([history.status?.phase, history.status?.reason], ['Failed', 'DeadlineExceeded'])
    assert.equal(events.length, 1)
  })

  test('is not held up by leftovers that cannot be removed', async () => {
    const { sync, observe, lines } = await setUp({}, { removeContainer: failing('Unknown', 'busy') })
    const pod = seen({ id: 'c-3' }, { id: 'c-2', state: 'exited' }, { id: 'c-1', state: 'exited' })
    observe(pod)
    assert.deepEqual(await sync(), { kind: 'wait', ms: 60_000, seen: pod })
    assert.deepEqual(lines, ['warn cannot remove what is left over of a pod, will try again'])
  })

  test('gives up with the reason of the signal, and reports no failure', async () => {
    const stop = new AbortController()
    const reason = new Error('leave')
    const { sync, lines } = await setUp(
      {},
      {
        runPodSandbox: async () => {
          stop.abort(reason)
          throw reason
        },
      },
    )
    await assert.rejects(sync({ shutdown: stop.signal, superseded: stop.signal }), reason)
    assert.deepEqual(lines, [])
  })

  describe('with volumes', () => {
    const withVolume: Partial<PodSpec> = {
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [createContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    }

    test('mounts them before anything else is done', async () => {
      const { sync, volumeNode, journal, clock, references } = await setUp(withVolume)
      volumeNode.behaviours.set('data', 'hangs')
      const syncing = sync()
      await clock.advance(5000)
      assert.deepEqual([...references], ['u-1'])
      assert.deepEqual(journal, ['refresh'])
      volumeNode.letGo('data')
      await syncing
      assert.deepEqual(journal.slice(1, 3), ['runPodSandbox', 'podSandboxStatus s-1'])
    })

    test('tries again later when they do not come', async () => {
      const { sync, volumeNode, journal, clock, lines, history } = await setUp(withVolume)
      volumeNode.behaviours.set('data', 'fails')
      const syncing = sync()
      await clock.advance(123_000)
      assert.deepEqual(await syncing, { kind: 'wait', ms: 10_000, seen: undefined })
      assert.deepEqual([journal, lines], [['refresh'], ['warn cannot mount the volumes of a pod, will try again']])
      assert.equal(history.wait, undefined)
      assert.match(history.problem ?? '', /^Waits for its volumes: unmounted volumes=\[data\]/v)
    })

    test('starts over when something about the pod changes meanwhile, and gives up when the pod is to end', async () => {
      const { sync, volumeNode, clock, history } = await setUp(withVolume)
      volumeNode.behaviours.set('data', 'hangs')
      const first = sync()
      await clock.advance(0)
      history.wait?.abort(new Error('news'))
      assert.deepEqual(await first, { kind: 'again' })
      const end = new AbortController()
      const second = sync({ shutdown: never, superseded: end.signal })
      await clock.advance(0)
      end.abort(new Error('over'))
      await assert.rejects(second, /over/)
      assert.deepEqual(volumeNode.journal, ['mount u-1/data'])
      assert.equal(clock.sleeping, 0)
    })

    test('does not wait for them when nothing is to be started', async () => {
      const { sync, observe, volumeNode, clock } = await setUp(withVolume)
      volumeNode.behaviours.set('data', 'hangs')
      observe(seen({ hash: containerHash(createContainer()) }))
      assert.equal((await sync()).kind, 'wait')
      assert.deepEqual(volumeNode.journal, ['mount u-1/data'])
      volumeNode.letGo('data')
      await clock.advance(0)
      assert.equal(clock.sleeping, 0)
    })
  })
})

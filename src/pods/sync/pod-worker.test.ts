import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodDeps,
  failing,
} from '../../../test/component/create-pod-deps.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { containerHash } from '../../model/pod/container-hash.ts'
import { crashBackOffLimits } from './decide/compute-crash-back-off.ts'
import type { PodDeps } from './pod-worker.ts'
import { terminatedAt } from './pod-state.ts'
import type { PodState } from './pod-state.ts'
import { PodWorker } from './pod-worker.ts'
import { Timeline } from './explain/timeline.ts'
import type { PodSubject } from './pod-life.ts'

const container = createContainer()
const pod = createPod({ spec: { dnsPolicy: 'Default', containers: [container], terminationGracePeriodSeconds: 30 } })
const running = createObservedPod({
  sandboxes: [createObservedSandbox()],
  containers: [createObservedContainer({ hash: containerHash(container) })],
})
const stopped = createObservedPod({ sandboxes: [createObservedSandbox({ ready: false })] })

async function setUp(
  state: PodState,
  options: { readonly subject?: PodSubject; readonly answers?: Partial<PodDeps['calls']> } = {},
) {
  const { subject = { kind: 'pod', pod } } = options
  const made = await createPodDeps({}, options.answers)
  const stop = new AbortController()
  const reported = { statuses: 0, ended: 0 }
  const settings = {
    runtimeName: 'fake',
    backOffLimits: crashBackOffLimits(300_000),
    syncFrequencyMs: 60_000,
    networkProblem: () => undefined,
  }
  const deps = {
    ...made.deps,
    settings,
    timeline: new Timeline(made.clock),
    onStatus: () => void (reported.statuses += 1),
    onEnded: () => void (reported.ended += 1),
  }
  const worker = new PodWorker(deps, subject, state)
  let result: 'yes' | 'no' | Error = 'no'
  const begin = () => {
    worker.run(stop.signal).then(
      () => (result = 'yes'),
      (error: Error) => (result = error),
    )
  }
  return { ...made, worker, stop, reported, begin, outcome: () => result }
}

describe('PodWorker', () => {
  test('ends a pod of which the runtime has nothing without being woken', async () => {
    const { worker, begin, clock, outcome, reported, journal, stop } = await setUp({ kind: 'syncing' })
    worker.remove()
    begin()
    await clock.advance(5000)
    assert.equal(outcome(), 'yes')
    assert.deepEqual([worker.state, reported.ended], [{ kind: 'gone' }, 1])
    assert.deepEqual(journal, ['refresh', 'refresh', 'removeCgroup u-1'])
    assert.equal(clock.sleeping, 0)
    assert.deepEqual(getEventListeners(stop.signal, 'abort'), [])
  })

  test('says why a pod was rejected before the agent restarted', async () => {
    const status = { phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected: too few CPUs' }
    const subject = { kind: 'pod', pod: { ...pod, status } } as const
    const { worker } = await setUp(terminatedAt(0, 'keep'), { subject })
    assert.equal(worker.explain().why, 'Pod was rejected: too few CPUs (OutOfcpu)')
  })

  test('waits for its name, and is gone at once when it is removed meanwhile', async () => {
    const { worker, begin, clock, outcome, journal, reported } = await setUp({ kind: 'waiting' })
    begin()
    await clock.advance(1000)
    assert.deepEqual([journal, outcome()], [[], 'no'])
    worker.remove()
    await clock.advance(0)
    assert.deepEqual([worker.state, reported.ended, outcome()], [{ kind: 'gone' }, 0, 'yes'])
  })

  test('takes up its pod when it is released', async () => {
    const { worker, begin, clock, journal, stop } = await setUp({ kind: 'waiting' })
    begin()
    await clock.advance(0)
    worker.release()
    await clock.advance(0)
    assert.deepEqual(journal.slice(0, 2), ['refresh', 'runPodSandbox'])
    stop.abort()
  })

  test('does not sync again because of what it did itself, and does because of anything else', async () => {
    const { worker, deps, observe, begin, clock, journal, stop } = await setUp(
      { kind: 'syncing' },
      { answers: { createContainer: failing('Unknown') } },
    )
    const refresh = deps.observer.refresh.bind(deps.observer)
    deps.observer.refresh = async (uid) => {
      const before = deps.observer.get(uid)
      observe(before ?? createObservedPod({ sandboxes: [createObservedSandbox()] }))
      worker.observedChanged()
      return await refresh(uid)
    }
    begin()
    await clock.advance(9000)
    assert.equal(journal.filter((line) => line.startsWith('createContainer')).length, 1)
    observe(running)
    worker.observedChanged()
    await clock.advance(0)
    assert.equal(worker.status?.phase, 'Running')
    stop.abort()
  })

  test('logs a failure that is none of the runtime, and tries again after a while', async () => {
    const { begin, clock, files, lines, observe, stop, worker } = await setUp({ kind: 'syncing' })
    const words = { state: 'exited', terminationLog: '/x', hash: containerHash(container) } as const
    observe(createObservedPod({ sandboxes: [createObservedSandbox()], containers: [createObservedContainer(words)] }))
    files.failures.set('readTerminationLog', new Error('EIO'))
    begin()
    await clock.advance(9000)
    assert.deepEqual(lines, ['error pod step failed, will try again'])
    files.failures.clear()
    await clock.advance(1000)
    assert.notEqual(worker.status, undefined)
    stop.abort()
  })

  test('stops what was started after the pod was removed', async () => {
    const { worker, begin, clock, observe, journal, deps, lines } = await setUp({ kind: 'syncing' })
    const answers = [running, stopped]
    deps.observer.refresh = async () => {
      const next = answers.shift()
      observe(next)
      return next
    }
    worker.remove()
    begin()
    await clock.advance(0)
    assert.deepEqual(journal, ['stopContainer c-1 30', 'stopPodSandbox s-1'])
    assert.deepEqual(lines, ['info pod ended'], 'nothing else is logged')
  })

  test('says so and tries again when a pod does not stop', async () => {
    const { worker, begin, clock, observe, journal, lines, stop } = await setUp({ kind: 'syncing' })
    observe(running)
    begin()
    await clock.advance(0)
    worker.remove()
    await clock.advance(1000)
    const stops = journal.filter((line) => line.startsWith('stopContainer'))
    assert.deepEqual(stops, ['stopContainer c-1 30', 'stopContainer c-1 29'])
    assert.equal(lines[0], 'warn pod still runs after it was stopped, will try again')
    stop.abort()
  })

  test('asks a runtime that does not get on with it less and less often', async () => {
    const { worker, begin, clock, observe, journal, stop } = await setUp({ kind: 'syncing' })
    observe(running)
    begin()
    await clock.advance(0)
    worker.remove()
    const tries: number[] = []
    for (let second = 0; second < 40; second += 1) {
      await clock.advance(second === 0 ? 0 : 1000)
      if (journal.filter((line) => line.startsWith('stopContainer')).length > tries.length) tries.push(second)
    }
    assert.deepEqual(tries, [0, 1, 3, 7, 15, 25, 35])
    stop.abort()
  })

  test('waits for its turn to end, with its whole grace or with what it was cut to meanwhile', async () => {
    const { worker, deps, begin, clock, observe, journal, stop } = await setUp({ kind: 'syncing' })
    observe(running)
    begin()
    await clock.advance(0)
    const others = Array.from({ length: 2 }, () => Promise.withResolvers<void>())
    for (const { promise } of others) void deps.ends.runInTurn(0, () => promise, stop.signal)
    worker.remove()
    await clock.advance(900)
    assert.deepEqual(journal, [])
    worker.terminate('deleted', 7)
    others[0]?.resolve()
    await clock.advance(0)
    assert.deepEqual(journal.slice(0, 1), ['stopContainer c-1 7'])
    stop.abort()
  })

  test('waits for no turn while the machine shuts down', async () => {
    const { worker, deps, begin, clock, observe, journal, stop } = await setUp({ kind: 'syncing' })
    Object.assign(deps.terminations, { isNodeEnding: () => true })
    observe(running)
    begin()
    await clock.advance(0)
    for (const _ of [1, 2]) void deps.ends.runInTurn(0, () => new Promise(() => {}), stop.signal)
    worker.remove()
    await clock.advance(0)
    assert.deepEqual(journal.slice(0, 1), ['stopContainer c-1 30'])
    stop.abort()
  })

  test('stops what runs although the pod had ended', async () => {
    const { begin, clock, observe, journal, stop, deps } = await setUp(terminatedAt(0, 'keep'))
    observe(running)
    deps.observer.refresh = async () => (observe(stopped), stopped)
    begin()
    await clock.advance(0)
    assert.deepEqual(journal, ['stopContainer c-1 2', 'stopPodSandbox s-1', 'removeCgroup u-1'])
    stop.abort()
  })

  test('keeps the pod until the runtime really has nothing of it', async () => {
    const { worker, begin, clock, observe, journal, lines, outcome } = await setUp(terminatedAt(0, 'keep'))
    observe(stopped)
    begin()
    await clock.advance(0)
    worker.remove()
    await clock.advance(900)
    assert.deepEqual([outcome(), lines], ['no', ['warn runtime still has parts of a removed pod, will try again']])
    observe(undefined)
    await clock.advance(100)
    assert.equal(outcome(), 'yes')
    assert.equal(journal.at(-1), 'removeCgroup u-1')
  })

  test('gives an orphan the shortest grace and records no event', async () => {
    const { begin, clock, observe, journal, events, stop } = await setUp(
      { kind: 'terminating', cause: 'orphaned', graceSeconds: undefined, after: 'remove' },
      { subject: { kind: 'orphan', observed: running } },
    )
    observe(running)
    begin()
    await clock.advance(0)
    assert.equal(journal[0], 'stopContainer c-1 2')
    assert.deepEqual(events, [])
    stop.abort()
  })

  test('leaves with the reason of the shutdown, whatever broke because of it', async () => {
    const reason = new ShutdownError('test')
    const leave = new AbortController()
    const runPodSandbox = async () => {
      leave.abort(reason)
      return await failing('Unavailable', 'connection is closed')()
    }
    const { worker, lines } = await setUp({ kind: 'syncing' }, { answers: { runPodSandbox } })
    await assert.rejects(worker.run(leave.signal), reason)
    assert.deepEqual(lines, [])
    assert.equal(worker.state.kind, 'syncing')
  })

  describe('of a pod with volumes', () => {
    const withVolume = createPod({
      spec: {
        ...pod.spec,
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [createContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
      },
    })

    for (const news of ['desiredChanged', 'observedChanged', 'remove'] as const) {
      test(`does not wait for a volume any longer after ${news}()`, async () => {
        const { worker, begin, clock, volumeNode, reported, stop } = await setUp(
          { kind: 'syncing' },
          { subject: { kind: 'pod', pod: withVolume } },
        )
        volumeNode.behaviours.set('data', 'hangs')
        begin()
        await clock.advance(1000)
        const before = reported.statuses
        if (news === 'desiredChanged') worker.desiredChanged({ ...withVolume })
        else worker[news]()
        await clock.advance(0)
        assert.ok(reported.statuses > before)
        assert.deepEqual(volumeNode.journal.slice(0, 1), ['mount u-1/data'])
        assert.equal(volumeNode.journal.filter((line) => line.startsWith('mount')).length, 1)
        stop.abort(new ShutdownError('leave'))
        await clock.advance(0)
      })
    }

    test('keeps a pod that has ended until its volumes are gone, and says what hangs', async () => {
      const { worker, begin, clock, outcome, volumeNode, journal, lines, references, deps } = await setUp(
        { kind: 'syncing' },
        { subject: { kind: 'pod', pod: withVolume } },
      )
      await deps.volumes.ensure({ pod: withVolume, noteStep: deps.noteStep }, new AbortController().signal)
      deps.references.register(withVolume)
      volumeNode.behaviours.set('data', 'hangs')
      worker.remove()
      begin()
      await clock.advance(20_000)
      assert.deepEqual([worker.state.kind, outcome()], ['terminated', 'no'])
      assert.ok(!journal.includes('removeCgroup u-1'))
      assert.deepEqual([...references], ['u-1'])
      await clock.advance(123_000)
      assert.ok(lines.includes('warn cannot take the volumes of a pod away, will try again'))
      volumeNode.behaviours.set('data', 'good')
      volumeNode.letGo('data')
      await clock.advance(10_000)
      assert.deepEqual([outcome(), volumeNode.mounts.size, references.size], ['yes', 0, 0])
      assert.equal(clock.sleeping, 0)
    })
  })
})

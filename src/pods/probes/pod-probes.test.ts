import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { PodProbes } from './pod-probes.ts'
import type { ProbeMeasure } from './probe-deps.ts'
import type { ProbeOutcome } from './probe-outcome.ts'

const fine: ProbeOutcome = { result: 'success', output: '' }
const bad: ProbeOutcome = { result: 'failure', output: 'no' }
const probe = { periodSeconds: 10, failureThreshold: 3 }

function setUp(container: Partial<Container>, options: { readonly note?: string; readonly status?: object } = {}) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const asked: string[] = []
  const events: string[] = []
  const runs: ProbeMeasure[] = []
  const notes: string[] = options.note === undefined ? [] : [options.note]
  const asides: string[] = []
  const world = {
    clock,
    stop,
    asked,
    events,
    runs,
    notes,
    asides,
    answer: fine as ProbeOutcome | Error,
    changes: 0,
    answers: [] as string[],
    onChange: async () => {},
    noteError: undefined as Error | undefined,
    readError: undefined as Error | undefined,
    observed: createObservedPod({ containers: [running('main-0')] }),
  }
  const pod = createPod({ spec: { containers: [createContainer(container)] }, ...options.status })
  const startedAt = clock.monotonic()
  function running(id: string) {
    return createInstance({ id, startedAt: clock.now() })
  }
  const probes = new PodProbes(
    {
      runProbe: async ({ containerId }) => {
        asked.push(`${(clock.monotonic() - startedAt) / 1000} ${containerId}`)
        if (Error.isError(world.answer)) throw world.answer
        return world.answer
      },
      notes: {
        read: async () => {
          if (world.readError !== undefined) throw world.readError
          return notes.at(-1)
        },
        write: async (_, text) => {
          if (world.noteError !== undefined) throw world.noteError
          notes.push(text)
        },
        setAside: async () => void asides.push(notes.pop() ?? ''),
      },
      events: { record: (_, { reason, message, fieldPath }) => void events.push(`${fieldPath} ${reason} ${message}`) },
      clock,
      log: silentLogger,
      random: () => 0.5,
      agentStartedAt: startedAt,
      onRun: (run) => void runs.push(run),
      onEnded: () => {},
    },
    {
      observed: () => world.observed,
      podIp: () => '10.0.0.2',
      onAnswer: ({ type, containerId, outcome }) => void world.answers.push(`${type} ${containerId} ${outcome.result}`),
      onChange: async () => {
        world.changes += 1
        await world.onChange()
      },
    },
  )
  const sync = () => probes.sync(pod, world.observed, stop.signal)
  const restart = (id: string) => {
    world.observed = createObservedPod({ containers: [running(id)] })
    probes.refresh()
  }
  const ready = () => probes.status(pod, world.observed).ready
  return Object.assign(world, { probes, pod, sync, restart, ready })
}

async function end({ probes, clock, stop }: ReturnType<typeof setUp>): Promise<void> {
  await probes.end()
  assert.equal(clock.sleeping, 0)
  assert.deepEqual(getEventListeners(stop.signal, 'abort'), [])
}

describe('PodProbes', () => {
  test('does nothing for a pod without probes', async () => {
    const world = setUp({})
    await world.sync()
    await world.clock.advance(60_000)
    await world.probes.remember(world.pod, world.observed)
    assert.deepEqual([world.asked, world.notes], [[], []])
    await end(world)
  })

  test('asks about life every period, from a moment that chance decides', async () => {
    const world = setUp({ livenessProbe: probe })
    await world.sync()
    await world.clock.advance(30_000)
    assert.deepEqual(world.asked, ['5 main-0', '15 main-0', '25 main-0'])
    assert.equal(world.changes, 0, 'good news is no news')
    const [{ pod, ...run } = assert.fail('nothing was asked')] = world.runs
    assert.equal(pod.metadata.name, 'web')
    assert.deepEqual(run, { container: 'main', type: 'liveness', result: 'successful', seconds: 0 })
    await end(world)
  })

  test('says once that a container is dead, and asks no more before there is another', async () => {
    const world = setUp({ livenessProbe: probe })
    world.answer = bad
    await world.sync()
    await world.clock.advance(60_000)
    assert.equal(world.asked.length, 3)
    assert.deepEqual([world.changes, world.probes.verdicts.liveness.get('main-0')], [1, false])
    assert.equal(world.events[0], 'spec.containers{main} Unhealthy Liveness probe failed: no')
    world.restart('main-1')
    await world.sync()
    await world.clock.advance(20_000)
    assert.deepEqual(world.asked.slice(3), ['65 main-1', '75 main-1'])
    assert.equal(world.probes.verdicts.liveness.size, 0, 'the count starts again, and the dead are forgotten')
    await end(world)
  })

  test('waits for the initial delay, also with what was asked for at once', async () => {
    const world = setUp({ readinessProbe: { ...probe, initialDelaySeconds: 7 } })
    await world.sync()
    await world.clock.advance(18_000)
    assert.deepEqual(world.asked, ['7 main-0', '17 main-0'])
    await end(world)
  })

  test('asks at each pass whether a container is ready, as long as it is not', async () => {
    const world = setUp({ readinessProbe: probe })
    world.answer = bad
    await world.sync()
    await world.clock.advance(3000)
    await world.sync()
    await world.clock.advance(3000)
    assert.deepEqual([world.asked, world.ready()], [['0 main-0', '3 main-0'], new Map([['main-0', false]])])
    world.answer = fine
    await world.clock.advance(8000)
    assert.deepEqual([world.asked.at(-1), world.ready()], ['13 main-0', new Map([['main-0', true]])])
    await world.sync()
    await world.clock.advance(5000)
    assert.equal(world.asked.length, 3)
    await end(world)
  })

  test('counts a warning as success, and reports it', async () => {
    const world = setUp({ readinessProbe: probe })
    world.answer = { result: 'warning', output: 'moved' }
    await world.sync()
    await world.clock.advance(0)
    assert.deepEqual(world.ready(), new Map([['main-0', true]]))
    assert.deepEqual(world.events, ['spec.containers{main} ProbeWarning Readiness probe warning: moved'])
    await end(world)
  })

  test('an error leaves the count as it is', async () => {
    const world = setUp({ livenessProbe: probe })
    world.answer = bad
    await world.sync()
    await world.clock.advance(15_000)
    world.answer = { result: 'error', output: 'broken', state: 'failure' }
    await world.clock.advance(10_000)
    assert.equal(world.changes, 0)
    assert.equal(
      world.events.at(-1),
      'spec.containers{main} Unhealthy Liveness probe errored and resulted in failure state: broken',
    )
    world.answer = bad
    await world.clock.advance(10_000)
    assert.equal(world.changes, 1)
    await end(world)
  })

  test('asks about the start before the first tick, which can only succeed', async () => {
    const slow = setUp({ startupProbe: { ...probe, failureThreshold: 2 }, readinessProbe: probe })
    slow.answer = bad
    await slow.sync()
    await slow.clock.advance(4000)
    assert.deepEqual([slow.asked, slow.events, slow.changes], [['0 main-0'], [], 0])
    await slow.clock.advance(11_000)
    assert.deepEqual(slow.asked, ['0 main-0', '5 main-0', '15 main-0'])
    assert.equal(slow.probes.verdicts.startup.get('main-0'), false)
    await end(slow)

    const quick = setUp({ startupProbe: probe })
    await quick.sync()
    await quick.clock.advance(30_000)
    assert.deepEqual([quick.asked, quick.probes.verdicts.startup.get('main-0')], [['0 main-0'], true])
    await end(quick)
  })

  test('says nothing about a container that ended meanwhile', async () => {
    const world = setUp({ livenessProbe: { ...probe, failureThreshold: 1 } })
    world.answer = bad
    await world.sync()
    await world.clock.advance(4000)
    const { containers } = world.observed
    let asks = 0
    Object.defineProperty(world, 'observed', {
      get: () =>
        (asks += 1) === 1
          ? createObservedPod({ containers })
          : createObservedPod({ containers: [createInstance({ state: 'exited' })] }),
    })
    await world.clock.advance(1000)
    assert.deepEqual([world.asked.length, world.events, world.changes], [1, [], 0])
    await end(world)
  })

  test('keeps what it knows for the next agent', async () => {
    const first = setUp({ startupProbe: probe, readinessProbe: probe })
    first.answer = bad
    await first.sync()
    await first.probes.remember(first.pod, first.observed)
    assert.deepEqual(first.notes, [], 'nothing is worth a note yet')
    first.answer = fine
    await first.clock.advance(5000)
    await first.sync()
    await first.clock.advance(0)
    await first.probes.remember(first.pod, first.observed)
    await first.probes.remember(first.pod, first.observed)
    assert.equal(first.notes.length, 1)
    await end(first)
    const second = setUp({ startupProbe: probe, readinessProbe: probe }, { note: first.notes[0] ?? '' })
    second.answer = bad
    await second.sync()
    await second.clock.advance(4000)
    assert.deepEqual([second.asked, second.ready().get('main-0')], [[], true])
    await second.clock.advance(21_000)
    assert.deepEqual([second.asked.length, second.ready().get('main-0')], [3, false])
    await end(second)
  })

  test('believes what was reported to the API about the same instance', async () => {
    const status = {
      containerStatuses: [
        {
          name: 'main',
          containerID: 'containerd://main-0',
          ready: true,
          started: true,
          restartCount: 0,
          image: '',
          imageID: '',
        },
      ],
    }
    const world = setUp({ startupProbe: probe, readinessProbe: probe }, { status: { status } })
    world.answer = bad
    await world.sync()
    assert.equal(world.ready().get('main-0'), true)
    world.restart('main-1')
    assert.equal(world.ready().get('main-1'), false)
    await end(world)
  })

  test('a note that cannot be read is set aside, one that cannot be written is done without', async () => {
    const world = setUp({ readinessProbe: probe }, { note: '{' })
    world.noteError = new Error('disk full')
    await world.sync()
    await world.clock.advance(0)
    await world.probes.remember(world.pod, world.observed)
    assert.deepEqual([world.asides, world.notes, world.ready().get('main-0')], [['{'], [], true])
    await end(world)
  })

  test('a note that cannot be read for the moment is read again by the next pass', async () => {
    const first = setUp({ readinessProbe: probe })
    await first.sync()
    await first.clock.advance(0)
    await first.probes.remember(first.pod, first.observed)
    await end(first)
    const world = setUp({ readinessProbe: probe }, { note: first.notes[0] ?? '' })
    world.readError = Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
    await assert.rejects(world.sync(), { code: 'EMFILE' })
    assert.deepEqual([world.asides, world.ready().get('main-0')], [[], false])
    world.readError = undefined
    await world.sync()
    assert.equal(world.ready().get('main-0'), true)
    await end(world)
  })

  test('reports each answer that counts', async () => {
    const world = setUp({ livenessProbe: probe })
    await world.sync()
    await world.clock.advance(5000)
    world.answer = bad
    await world.clock.advance(10_000)
    assert.deepEqual(world.answers, ['liveness main-0 success', 'liveness main-0 failure'])
    await end(world)
  })

  test('goes on after something broke', async () => {
    const world = setUp({ livenessProbe: { ...probe, failureThreshold: 1 } })
    world.answer = new Error('bug')
    await world.sync()
    await world.clock.advance(6000)
    world.answer = bad
    world.onChange = async () => {
      throw new Error('another bug')
    }
    await world.clock.advance(20_000)
    assert.equal(world.changes, 1)
    await end(world)
  })

  test('ends what restarts regular containers when their pod is stopped, and the rest later', async () => {
    const world = setUp({ livenessProbe: probe, readinessProbe: probe, startupProbe: probe })
    await world.sync()
    await world.clock.advance(1000)
    world.probes.endRegular()
    world.asked.length = 0
    await world.clock.advance(20_000)
    assert.equal(world.asked.length, 2, 'readiness alone')
    await end(world)
    await world.sync()
    await world.clock.advance(20_000)
    assert.equal(world.asked.length, 2)
  })
})

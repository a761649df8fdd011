import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { EventTrust } from './event-trust.ts'

const STARTED = { containerId: 'main-0', kind: 'started' } as const
const nothing = createObservedPod()
const running = createObservedPod({ containers: [createInstance()] })
const exited = createObservedPod({ containers: [createInstance({ state: 'exited' })] })

/** One that watches a stream; `seen` has its doubts and its log lines. */
function watching() {
  const clock = new FakeClock()
  const seen: string[] = []
  const note = (message: string) => void seen.push(message)
  const trust = new EventTrust({ clock, log: { ...silentLogger, info: note, warn: note } })
  const controller = new AbortController()
  const ended = trust.run(() => note('doubt'), controller.signal).catch(() => {})
  trust.expectEvents()
  return {
    clock,
    seen,
    trust,
    async [Symbol.asyncDispose]() {
      controller.abort(new Error('the test has ended'))
      await ended
      assert.equal(clock.sleeping, 0)
    },
  }
}

describe('EventTrust', () => {
  test('has no opinion before anything happens, and waits for nothing', async () => {
    await using world = watching()
    await world.clock.advance(100_000)
    assert.deepEqual([world.trust.state, world.clock.sleeping], ['unproven', 0])
  })

  test('is proven by any event', async () => {
    await using world = watching()
    world.trust.reported({ containerId: 'other', kind: 'created' })
    assert.equal(world.trust.state, 'proven')
  })

  test('stays where the event comes before the observation', async () => {
    await using world = watching()
    world.trust.reported(STARTED)
    world.trust.observed(nothing, running)
    await world.clock.advance(10_000)
    assert.deepEqual([world.trust.state, world.seen], ['proven', []])
  })

  test('stays where the event comes within a second', async () => {
    await using world = watching()
    world.trust.observed(nothing, running)
    await world.clock.advance(999)
    world.trust.reported(STARTED)
    await world.clock.advance(10_000)
    assert.deepEqual([world.trust.state, world.seen, world.clock.sleeping], ['proven', [], 0])
  })

  test('is lost where another event comes instead, and comes back with the next one', async () => {
    await using world = watching()
    world.trust.observed(nothing, running)
    world.trust.reported({ containerId: 'other', kind: 'started' })
    await world.clock.advance(1000)
    assert.equal(world.trust.state, 'doubted')
    world.trust.reported(STARTED)
    assert.equal(world.trust.state, 'proven')
    assert.deepEqual(world.seen, [
      'the runtime did not report what a container did, relying on relists',
      'doubt',
      'runtime events come again, relisting seldom',
    ])
  })

  test('is lost by an end of which only the start was reported', async () => {
    await using world = watching()
    world.trust.reported(STARTED)
    world.trust.observed(nothing, running)
    world.trust.observed(running, exited)
    await world.clock.advance(1000)
    assert.equal(world.trust.state, 'doubted')
  })

  test('waits for each by its own time, and is logged once', async () => {
    await using world = watching()
    world.trust.observed(nothing, running)
    await world.clock.advance(400)
    world.trust.observed(running, exited)
    await world.clock.advance(600)
    assert.equal(world.seen.length, 2)
    await world.clock.advance(400)
    assert.deepEqual(world.seen.slice(1), ['doubt', 'doubt'])
  })

  test('is not lost while no stream is open', async () => {
    await using world = watching()
    world.trust.observed(nothing, running)
    world.trust.streamChanged()
    world.trust.observed(running, exited)
    await world.clock.advance(10_000)
    assert.equal(world.trust.state, 'unproven')
  })

  test('has to be proven again by a stream that was opened again, and a doubt remains', async () => {
    await using world = watching()
    world.trust.reported(STARTED)
    world.trust.streamChanged()
    assert.equal(world.trust.state, 'unproven')
    world.trust.expectEvents()
    world.trust.observed(running, exited)
    await world.clock.advance(1000)
    world.trust.streamChanged()
    assert.equal(world.trust.state, 'doubted')
  })

  test('forgets what is gone', async () => {
    await using world = watching()
    world.trust.reported(STARTED)
    world.trust.observed(nothing, running)
    world.trust.observed(running, nothing)
    world.trust.observed(nothing, running)
    await world.clock.advance(1000)
    assert.equal(world.trust.state, 'doubted')
  })

  test('remembers events of what is known, and of the rest for two minutes', async () => {
    await using world = watching()
    const lateEvent = async (ms: number, isKnown: boolean) => {
      world.trust.reported(STARTED)
      await world.clock.advance(ms)
      world.trust.forget(() => isKnown)
      world.trust.observed(nothing, running)
      await world.clock.advance(1000)
      return world.trust.state
    }
    assert.equal(await lateEvent(120_000, false), 'proven')
    assert.equal(await lateEvent(200_000, true), 'proven')
    assert.equal(await lateEvent(120_001, false), 'doubted')
  })
})

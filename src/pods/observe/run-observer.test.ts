import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { addRunning, addSandbox, FAKE_IMAGE } from '../../../test/fakes/fake-cri-pods.ts'
import { FakeCri } from '../../../test/fakes/fake-cri.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { createCriClient } from '../../protocols/cri/cri-client.ts'
import { ContainerState, PodSandboxState } from '../../protocols/cri/generated/runtime-v1.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { EventTrust } from './event-trust.ts'
import { Observer } from './observer.ts'
import type { ObserverDeps } from './observer.ts'
import type { RuntimeView } from './read-pod.ts'
import { runObserver } from './run-observer.ts'

const ONE = parsePodUid('u-1')
const SETTLE_MS = 500

/** A running observer. Calls take real time and no fake time, so a test waits for what it wants to see. */
async function running(
  events: 'containerd' | 'none',
  prepare: (fake: FakeCri) => void = () => {},
  { isAgain = false }: { readonly isAgain?: boolean } = {},
) {
  const clock = new FakeClock(0)
  const fake = await FakeCri.start({ clock: new FakeClock(0), events, images: [FAKE_IMAGE] })
  prepare(fake)
  // The deadlines of calls are no sleeps of the observer.
  const callClock = new FakeClock(0)
  const client = createCriClient({
    runtimeEndpoint: fake.endpoint,
    requestTimeoutMs: 1000,
    clock: callClock,
    log: silentLogger,
  })
  const controller = new AbortController()
  const relists: { readonly ms: number; readonly error?: unknown }[] = []
  const changes: string[] = []
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const trust = new EventTrust({ clock, log })
  if (isAgain) trust.expectEvents()
  const onChange: ObserverDeps['onChange'] = (uid, before, now) => {
    trust.observed(before, now)
    changes.push(uid)
  }
  const observer = new Observer({ runtime: client, clock, onChange }, controller.signal)
  const ended = runObserver(
    { observer, trust, client, clock, log, onRelist: (result) => void relists.push(result) },
    controller.signal,
  )
  return {
    clock,
    fake,
    observer,
    trust,
    relists,
    changes,
    warnings,
    /** The state of a container as it is known. */
    stateOf: (id: string) => observer.get(ONE)?.containers.find((container) => container.id === id)?.state,
    /** How often single pods were refreshed. */
    refreshes: () => fake.requests('listContainers').filter(({ filter }) => filter !== undefined).length,
    /** Waits until so many relists have ended and so many parts sleep. */
    async reach(count: number, sleepers: number) {
      await until(() => relists.length === count && clock.sleeping === sleepers)
    },
    async [Symbol.asyncDispose]() {
      controller.abort(new Error('the test has ended'))
      await ended
      assert.equal(clock.sleeping + callClock.sleeping, 0)
      client.close()
      await fake[Symbol.asyncDispose]()
    },
  }
}

/** A runtime without events: the listener sleeps until it tries again, the relist until its time. */
async function withoutEvents(prepare?: (fake: FakeCri) => void) {
  const world = await running('none', prepare)
  await until(() => world.warnings.length === 1)
  await world.reach(1, 2)
  return world
}

/** One pod with one container if nothing else is asked for, known and with events streaming. */
async function streaming(prepare?: (fake: FakeCri) => void) {
  let main = ''
  const addMain = (fake: FakeCri) => {
    main = addRunning(fake, addSandbox(fake, ONE), 'main')
  }
  const world = await running('containerd', prepare ?? addMain)
  await until(() => world.fake.events.listeners === 1)
  await world.reach(1, 2)
  await world.clock.advance(SETTLE_MS)
  await world.reach(2, 1)
  return { ...world, main, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** The container ends without an event. */
function endSilently(fake: FakeCri, id: string): void {
  Object.assign(fake.runtime.get(id), { state: ContainerState.CONTAINER_EXITED, exitCode: 3, finishedAt: 1n })
}

describe('runObserver() relists', () => {
  test('at once, and every second when there are no events', async () => {
    await using world = await withoutEvents((fake) => void addSandbox(fake, ONE))
    assert.deepEqual(world.observer.uids(), [ONE])
    await world.clock.advance(999)
    await world.reach(1, 2)
    await world.clock.advance(1)
    await world.reach(2, 2)
    await world.clock.advance(1000)
    await world.reach(3, 2)
    assert.deepEqual(world.relists, [{ ms: 0 }, { ms: 0 }, { ms: 0 }])
  })

  test('when events begin to stream, and every 30 s once one has come', async () => {
    await using world = await streaming()
    world.fake.events.emit('other', 'started')
    await until(() => world.trust.state === 'proven')
    // The wait under way began before.
    await world.clock.advance(1000)
    await world.reach(3, 1)
    await world.clock.advance(29_999)
    await world.reach(3, 1)
    await world.clock.advance(1)
    await world.reach(4, 1)
    assert.equal(world.refreshes(), 0)
  })

  test('ever more seldom while no event has come', async () => {
    await using world = await streaming()
    const waits = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
    for (const [index, ms] of waits.entries()) {
      await world.clock.advance(ms - 1)
      await world.reach(2 + index, 1)
      await world.clock.advance(1)
      await world.reach(3 + index, 1)
    }
  })

  test('ever more seldom again after the stream was opened again', async () => {
    await using world = await streaming()
    world.fake.events.emit('other', 'started')
    await until(() => world.trust.state === 'proven')
    await world.clock.advance(1000)
    await world.reach(3, 1)
    await world.fake.dropConnections()
    // It broke, and is opened after a back-off; gRPC has a real one of its own.
    await world.reach(4, 2)
    while (world.fake.events.listeners === 0) await world.clock.advance(100)
    await world.clock.advance(SETTLE_MS)
    await until(() => world.clock.sleeping === 1)
    const opened = world.relists.length
    for (const [index, ms] of [1000, 2000, 4000].entries()) {
      await world.clock.advance(ms)
      await world.reach(opened + 1 + index, 1)
    }
  })

  test('every second after a container ended without an event, until one comes', async () => {
    await using world = await streaming()
    endSilently(world.fake, world.main)
    await world.observer.refresh(ONE)
    await until(() => world.clock.sleeping === 2)
    // A second for the event, in which a relist is due.
    await world.clock.advance(1000)
    await until(() => world.trust.state === 'doubted')
    await world.reach(3, 1)
    assert.deepEqual(world.warnings, ['the runtime did not report what a container did, relying on relists'])
    await world.clock.advance(1000)
    await world.reach(4, 1)
    world.fake.events.emit('other', 'started')
    await until(() => world.trust.state === 'proven')
    await world.clock.advance(1000)
    await world.reach(5, 1)
    await world.clock.advance(29_999)
    await world.reach(5, 1)
  })

  test('every 30 s where nothing runs, until what starts is not reported', async () => {
    await using world = await streaming(() => {})
    await world.clock.advance(20_000)
    await world.reach(2, 1)
    world.fake.muteEvents(true)
    addRunning(world.fake, addSandbox(world.fake, ONE), 'main')
    await world.observer.refresh(ONE)
    await until(() => world.clock.sleeping === 2)
    await world.clock.advance(1000)
    await world.reach(3, 1)
    await world.clock.advance(1000)
    await world.reach(4, 1)
  })

  test('and does not expect events of what happened while there was no stream', async () => {
    await using world = await running('containerd', (fake) => void addSandbox(fake, ONE))
    await until(() => world.fake.events.listeners === 1)
    await world.reach(1, 2)
    world.fake.muteEvents(true)
    addRunning(world.fake, [...world.fake.runtime.sandboxes.keys()][0] ?? '', 'main')
    await world.clock.advance(SETTLE_MS)
    await world.reach(2, 1)
    assert.deepEqual(world.changes, [ONE, ONE])
    await world.clock.advance(1000)
    await world.reach(3, 1)
    assert.equal(world.trust.state, 'unproven')
  })

  test('when events stop, and then every second', async () => {
    const clock = new FakeClock(0)
    const controller = new AbortController()
    const lost = Promise.withResolvers<never>()
    const events = () => ({ [Symbol.asyncIterator]: () => ({ next: () => lost.promise }) })
    const notAsked = () => Promise.reject(new Error('not asked'))
    const runtime: RuntimeView = {
      listPodSandbox: async () => ({ items: [] }),
      listContainers: async () => ({ containers: [] }),
      podSandboxStatus: notAsked,
      containerStatus: notAsked,
    }
    const times: number[] = []
    const ended = runObserver(
      {
        observer: new Observer({ runtime, clock, onChange: () => {} }, controller.signal),
        trust: new EventTrust({ clock, log: silentLogger }),
        client: { getContainerEvents: events, containerdEvents: events },
        clock,
        log: silentLogger,
        onRelist: () => void times.push(clock.now()),
      },
      controller.signal,
    )
    await clock.advance(10_000)
    assert.deepEqual(times, [0, SETTLE_MS])
    lost.reject(new CriCallError('events', 'Unimplemented', 'gone'))
    await clock.advance(2500)
    assert.deepEqual(times, [0, SETTLE_MS, 10_000, 11_000, 12_000])
    controller.abort(new Error('the test has ended'))
    await ended
    assert.equal(clock.sleeping, 0)
  })

  test('and begins without a stream when it is run again after it failed', async () => {
    await using world = await running('none', (fake) => void addSandbox(fake, ONE), { isAgain: true })
    await until(() => world.warnings.length === 1)
    await world.reach(1, 2)
    addRunning(world.fake, [...world.fake.runtime.sandboxes.keys()][0] ?? '', 'main')
    await world.observer.refresh(ONE)
    await world.clock.advance(1000)
    await world.reach(2, 2)
    assert.equal(world.trust.state, 'unproven')
  })

  test('again after a failure, which is reported', async () => {
    await using world = await withoutEvents((fake) => fake.script.fail('listContainers', 'Internal', 'broken', 1))
    assert.match(String(world.relists[0]?.error), /broken/)
    assert.equal(world.observer.lastRelistAt, undefined)
    await world.clock.advance(1000)
    await world.reach(2, 2)
    assert.deepEqual(world.relists[1], { ms: 0 })
    assert.equal(world.observer.lastRelistAt, 1000)
  })

  test('and reports how long it took', async () => {
    await using world = await withoutEvents()
    const release = world.fake.script.hold('listPodSandbox')
    await world.clock.advance(1000)
    await until(() => world.fake.requests('listPodSandbox').length === 2)
    await world.clock.advance(700)
    release()
    await world.reach(2, 2)
    assert.deepEqual(world.relists[1], { ms: 700 })
  })
})

describe('runObserver() follows a hint', () => {
  test('of an exit with one refresh when the runtime shows it', async () => {
    await using world = await streaming()
    world.fake.exitContainer(world.main, 3)
    await until(() => world.stateOf(world.main) === 'exited')
    assert.equal(world.observer.get(ONE)?.containers[0]?.exitCode, 3)
    assert.deepEqual([world.changes, world.relists.length, world.refreshes()], [[ONE, ONE], 2, 1])
    // The exit itself was reported too: by now it is known.
    await world.clock.advance(60)
    assert.deepEqual([world.refreshes(), world.clock.sleeping], [1, 1])
  })

  test('of an exit that the runtime never takes note of, some time later', async () => {
    await using world = await streaming()
    world.fake.events.emit(world.main, 'exited')
    await until(() => world.clock.sleeping === 2)
    endSilently(world.fake, world.main)
    await world.clock.advance(59)
    assert.deepEqual([world.refreshes(), world.stateOf(world.main)], [0, 'running'])
    await world.clock.advance(1)
    await until(() => world.stateOf(world.main) === 'exited')
    assert.deepEqual([world.refreshes(), world.clock.sleeping], [1, 1])
  })

  test('of an exit until the runtime shows it', async () => {
    await using world = await streaming()
    world.fake.events.emit(world.main, 'stopped')
    // Both the exit and the deletion of the task are reported, so two follow.
    await until(() => world.clock.sleeping === 3)
    await world.clock.advance(2)
    await until(() => world.clock.sleeping === 3)
    endSilently(world.fake, world.main)
    assert.equal(world.stateOf(world.main), 'running')
    await world.clock.advance(5)
    await until(() => world.stateOf(world.main) === 'exited')
    assert.deepEqual([world.changes, world.relists.length], [[ONE, ONE], 2])
  })

  test('of the end of a sandbox until the runtime shows it', async () => {
    await using world = await streaming()
    const [sandbox = ''] = world.fake.runtime.sandboxes.keys()
    world.fake.events.emit(sandbox, 'stopped')
    await until(() => world.clock.sleeping === 3)
    Object.assign(world.fake.runtime.sandboxes.get(sandbox) ?? {}, { state: PodSandboxState.SANDBOX_NOTREADY })
    await world.clock.advance(2)
    await until(() => world.observer.get(ONE)?.sandboxes[0]?.ready === false)
  })

  test('of an exit that never shows for a while and no longer', async () => {
    await using world = await streaming()
    world.fake.events.emit(world.main, 'stopped')
    for (const pause of [2, 5, 10, 20, 40, 80, 160, 320, 640]) {
      await until(() => world.clock.sleeping === 3)
      await world.clock.advance(pause)
    }
    endSilently(world.fake, world.main)
    await until(() => world.stateOf(world.main) === 'exited')
    assert.equal(world.clock.sleeping, 1)
  })

  test('of a container that becomes known only afterwards', async () => {
    await using world = await streaming()
    const [sandbox = ''] = world.fake.runtime.sandboxes.keys()
    const second = addRunning(world.fake, sandbox, 'second')
    world.fake.events.emit(second, 'stopped')
    await until(() => world.clock.sleeping === 3)
    assert.equal(world.refreshes(), 0)
    await world.observer.refresh(ONE)
    assert.equal(world.stateOf(second), 'running')
    endSilently(world.fake, second)
    await world.clock.advance(2)
    await until(() => world.stateOf(second) === 'exited')
  })

  test('again when the refresh fails', async () => {
    await using world = await streaming()
    world.fake.script.fail('listContainers', 'Internal', 'broken')
    world.fake.exitContainer(world.main, 3)
    await until(() => world.clock.sleeping === 3)
    assert.equal(world.stateOf(world.main), 'running')
    world.fake.script.heal('listContainers')
    await world.clock.advance(2)
    await until(() => world.stateOf(world.main) === 'exited')
  })

  test('of the start of what was seen at rest: a runtime that was late with it', async () => {
    await using world = await streaming()
    const [first = ''] = world.fake.runtime.sandboxes.keys()
    const sandbox = world.fake.runtime.sandboxes.get(first) ?? {}
    Object.assign(sandbox, { state: PodSandboxState.SANDBOX_NOTREADY })
    await world.observer.refresh(ONE)
    Object.assign(sandbox, { state: PodSandboxState.SANDBOX_READY })
    world.fake.events.emit(first, 'started')
    await until(() => world.observer.get(ONE)?.sandboxes[0]?.ready === true)
    assert.deepEqual([world.refreshes(), world.relists.length], [2, 2])
  })

  test('of memory run out with one refresh, and of a start with none', async () => {
    await using world = await streaming()
    world.fake.events.emit(world.main, 'started')
    world.fake.events.emit(world.main, 'oom')
    await until(() => world.refreshes() === 1)
    // What comes after the hints was seen shows that nothing else was asked in between.
    await world.observer.refresh(ONE)
    assert.deepEqual([world.refreshes(), world.clock.sleeping], [2, 1])
  })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCri } from '../../../test/fakes/fake-cri.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { CriCallError } from './cri-call-error.ts'
import { createCriClient } from './cri-client.ts'
import { runRuntimeEvents } from './runtime-events.ts'

const SETTLE_MS = 500

/** Runs the loop against a fake; `seen` has states, hints and log lines in the order they came. */
async function listening(events: 'cri' | 'containerd') {
  const fake = await FakeCri.start({ events })
  const clock = new FakeClock()
  const controller = new AbortController()
  const seen: string[] = []
  const note = (message: string) => void seen.push(message)
  const client = createCriClient({ runtimeEndpoint: fake.endpoint, requestTimeoutMs: 1000, clock, log: silentLogger })
  const running = runRuntimeEvents(
    {
      client,
      clock,
      log: { ...silentLogger, info: note, warn: note },
      onHint: ({ containerId, kind }) => note(`${kind} ${containerId}`),
      onState: note,
    },
    controller.signal,
  )
  return {
    fake,
    clock,
    seen,
    async [Symbol.asyncDispose]() {
      controller.abort(new Error('test is over'))
      await running
      assert.equal(clock.sleeping, 0)
      client.close()
      await fake[Symbol.asyncDispose]()
    },
  }
}

describe('runRuntimeEvents()', () => {
  test('uses the events of CRI where there are some', async () => {
    await using loop = await listening('cri')
    await until(() => loop.fake.events.listeners === 1)
    loop.fake.events.emit('a', 'created')
    loop.fake.events.emit('a', 'started')
    loop.fake.events.emit('a', 'stopped')
    loop.fake.events.emit('a', 'deleted')
    await until(() => loop.seen.length === 6)
    assert.deepEqual(loop.seen, [
      'runtime events are streaming',
      'streaming',
      'created a',
      'started a',
      'stopped a',
      'deleted a',
    ])
    assert.deepEqual(
      loop.fake.called.map(({ method }) => method),
      ['getContainerEvents'],
    )
  })

  test('turns to containerd where CRI has none', async () => {
    await using loop = await listening('containerd')
    await until(() => loop.fake.events.listeners === 1)
    loop.fake.events.emit('a', 'started')
    loop.fake.events.emitExecExit('a')
    loop.fake.events.emit('a', 'oom')
    loop.fake.events.emit('a', 'stopped', 137)
    await until(() => loop.seen.length === 6)
    assert.deepEqual(loop.seen.slice(2), ['started a', 'oom a', 'exited a', 'stopped a'])
    const [, subscription] = loop.fake.called
    assert.deepEqual(subscription, {
      method: 'containerdEvents',
      request: { filters: ['namespace==k8s.io,topic~="^/tasks/(start|exit|oom|delete)$"'] },
    })
  })

  test('takes a stream that stays silent for one that is open', async () => {
    await using loop = await listening('containerd')
    await until(() => loop.fake.events.listeners === 1)
    await loop.clock.advance(SETTLE_MS - 1)
    assert.deepEqual(loop.seen, [])
    await loop.clock.advance(1)
    assert.deepEqual(loop.seen, ['runtime events are streaming', 'streaming'])
  })

  test('says once that there is no stream and asks again seldom', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const seen: string[] = []
    const note = (message: string) => void seen.push(message)
    let asked = 0
    const absent = () => {
      asked += 1
      return failing(new CriCallError('events', 'Unimplemented', 'unknown method'))
    }
    const client = { getContainerEvents: absent, containerdEvents: absent }
    const log = { ...silentLogger, info: note, warn: note }
    const running = runRuntimeEvents({ client, clock, log, onHint: () => {}, onState: note }, controller.signal)
    await clock.advance(299_999)
    assert.equal(asked, 2)
    await clock.advance(1)
    assert.equal(asked, 4)
    assert.deepEqual(seen, ['no runtime events, relying on relists'])
    controller.abort(new Error('test is over'))
    await running
    assert.equal(clock.sleeping, 0)
  })

  test('backs off from a runtime that is away, up to three seconds', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const started = clock.now()
    const askedAt: number[] = []
    const away = () => {
      askedAt.push(clock.now() - started)
      return failing(new CriCallError('events', 'Unavailable', 'no socket'))
    }
    const client = { getContainerEvents: away, containerdEvents: away }
    const deps = { client, clock, log: silentLogger, onHint: () => {}, onState: () => {} }
    const running = runRuntimeEvents(deps, controller.signal)
    await clock.advance(13_000)
    assert.deepEqual(askedAt, [0, 100, 300, 700, 1500, 3100, 6100, 9100, 12_100])
    controller.abort(new Error('test is over'))
    await running
  })

  test('opens a broken stream again', async () => {
    await using loop = await listening('containerd')
    await until(() => loop.fake.events.listeners === 1)
    await loop.clock.advance(SETTLE_MS)
    loop.fake.stopListening()
    await until(() => loop.seen.length === 4)
    assert.deepEqual(loop.seen.slice(2), ['no runtime events, relying on relists', 'none'])
    await loop.fake.listen()
    // Each turn lets a back-off pass; gRPC has a real one of its own.
    while (loop.fake.events.listeners === 0) await loop.clock.advance(100)
    await loop.clock.advance(SETTLE_MS)
    loop.fake.events.emit('b', 'started')
    await until(() => loop.seen.length === 7)
    assert.deepEqual(loop.seen.slice(4), ['runtime events are streaming', 'streaming', 'started b'])
  })
})

function failing(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeKubeCollection } from '../../../../test/fakes/fake-kube-collection.ts'
import type { Fault, FakeObject } from '../../../../test/fakes/fake-kube-collection.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { ApiReturn } from './api-return.ts'
import { runListWatch } from './run-list-watch.ts'
import type { ListWatchDeps } from './run-list-watch.ts'

/** A cache that believes what it is given, and remembers all of it. */
function setUp(options: Partial<ListWatchDeps<FakeObject>> = {}) {
  const server = new FakeKubeCollection()
  const clock = new FakeClock()
  const over = new AbortController()
  const cache = new Map<string, string>()
  const reported: string[] = []
  const problems: unknown[] = []
  let version = 0
  const start = () =>
    runListWatch<FakeObject>(
      {
        client: server,
        path: '/api/v1/things',
        clock,
        random: () => 0.5,
        log: silentLogger,
        onReplace(items, listed) {
          reported.push(`replace ${items.length}`)
          version = Number(listed)
          cache.clear()
          for (const { metadata } of items) cache.set(metadata.name, metadata.resourceVersion)
        },
        onEvent({ type, object: { metadata } }) {
          reported.push(`${type} ${metadata.name}`)
          assert.ok(Number(metadata.resourceVersion) > version, 'an event came twice, or too late')
          version = Number(metadata.resourceVersion)
          if (type === 'DELETED') cache.delete(metadata.name)
          else cache.set(metadata.name, metadata.resourceVersion)
        },
        onProblem: (error) => problems.push(error),
        ...options,
      },
      over.signal,
    )
  const finish = async (running: Promise<never>) => {
    over.abort(new Error('enough'))
    await assert.rejects(running, /enough/)
    assert.equal(clock.sleeping, 0)
  }
  const state = () => new Map([...server.objects].map(([name, { metadata }]) => [name, metadata.resourceVersion]))
  return { server, clock, cache, reported, problems, start, finish, state }
}

describe('runListWatch()', () => {
  test('lists in parts, then reports each change', async () => {
    const { server, clock, reported, start, finish } = setUp()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) server.put(name)
    const running = start()
    await clock.advance(0)
    server.put('a')
    server.put('h')
    server.remove('b')
    await clock.advance(0)
    assert.deepEqual(reported, ['replace 7', 'MODIFIED a', 'ADDED h', 'DELETED b'])
    assert.deepEqual(server.requests, ['list 0', 'watch 17'])
    await finish(running)
  })

  test('goes on where it was after an end of time and after a break', async () => {
    const { server, clock, reported, start, finish } = setUp()
    const running = start()
    await clock.advance(2000)
    server.put('a')
    server.fail('end')
    await clock.advance(0)
    server.put('b')
    server.fail('break')
    await clock.advance(599)
    server.put('c')
    await clock.advance(1)
    assert.deepEqual(reported, ['replace 0', 'ADDED a', 'ADDED b', 'ADDED c'])
    assert.deepEqual(server.requests, ['list 0', 'watch 10', 'watch 11', 'watch 12'])
    await finish(running)
  })

  test('goes on from a bookmark', async () => {
    const { server, clock, start, finish } = setUp()
    const running = start()
    await clock.advance(2000)
    server.grow()
    server.bookmark()
    await clock.advance(0)
    server.fail('end')
    await clock.advance(0)
    assert.deepEqual(server.requests, ['list 0', 'watch 10', 'watch 11'])
    await finish(running)
  })

  for (const fault of ['expire', 'garble', 'refuse', 'repeat'] as const) {
    test(`lists again, and reports the current state, after "${fault}"`, async () => {
      const { server, clock, reported, problems, start, finish } = setUp()
      server.put('a')
      const running = start()
      await clock.advance(0)
      server.fail(fault)
      await clock.advance(600)
      assert.deepEqual(reported, ['replace 1', 'replace 1'])
      assert.deepEqual(server.requests, ['list 0', 'watch 11', 'list', 'watch 11'])
      assert.equal(problems.length, 1)
      await finish(running)
    })
  }

  test('lists again when the history is gone', async () => {
    const { server, clock, cache, start, finish, state } = setUp()
    const running = start()
    await clock.advance(0)
    server.fail('break')
    await clock.advance(0)
    server.put('a')
    server.put('b')
    server.remove('a')
    server.forgetHistory()
    await clock.advance(5000)
    assert.deepEqual(cache, state())
    assert.deepEqual(server.requests, ['list 0', 'watch 10', 'watch 10', 'list', 'watch 13'])
    await finish(running)
  })

  test('lists at once when it hears that the history is gone, but not again and again', async () => {
    const { server, clock, problems, start, finish } = setUp()
    const running = start()
    await clock.advance(0)
    server.fail('expire')
    await clock.advance(0)
    assert.deepEqual(server.requests, ['list 0', 'watch 10', 'list', 'watch 10'])
    server.fail('expire')
    await clock.advance(599)
    assert.equal(server.requests.length, 4)
    await clock.advance(1)
    assert.deepEqual(server.requests.slice(4), ['list', 'watch 10'])
    assert.equal(problems.length, 2)
    await finish(running)
  })

  test('reads a list at once when its parts are gone before they are read', async () => {
    const { server, clock, reported, start, finish } = setUp()
    for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(name)
    const send = server.send.bind(server)
    let pages = 0
    server.send = async (request, signal) => {
      if (++pages === 2) server.fail('expire')
      return await send(request, signal)
    }
    const running = start()
    await clock.advance(0)
    assert.deepEqual(reported, ['replace 5'])
    assert.deepEqual(server.requests, ['list 0', 'list', 'watch 15'])
    await finish(running)
  })

  test('waits longer with each break, and not for ever', async () => {
    const { server, clock, start, finish } = setUp()
    for (let count = 0; count < 30; count += 1) server.fail('break')
    const running = start()
    const counts: number[] = []
    for (const ms of [0, 600, 1200, 2400, 4800, 9600, 19_200, 22_500, 22_500]) {
      await clock.advance(ms)
      counts.push(server.requests.length)
    }
    assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    await finish(running)
  })

  test('waits no longer than after the first break where each watch has brought something', async () => {
    const { server, clock, reported, start, finish } = setUp()
    const running = start()
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const name of names) {
      await clock.advance(0)
      server.put(name)
      await clock.advance(0)
      server.fail('break')
      await clock.advance(600)
    }
    assert.deepEqual(reported, ['replace 0', ...names.map((name) => `ADDED ${name}`)])
    assert.equal(server.requests.length, 2 + names.length)
    await finish(running)
  })

  test('waits longer each time where all has to be listed again, whatever a watch has brought', async () => {
    const { server, clock, start, finish } = setUp()
    const running = start()
    const lists: number[] = []
    for (const [name, ms] of [
      ['a', 600],
      ['b', 1200],
      ['c', 2400],
    ] as const) {
      await clock.advance(0)
      server.put(name)
      await clock.advance(0)
      server.fail('garble')
      await clock.advance(ms - 1)
      lists.push(server.requests.filter((request) => request.startsWith('list')).length)
      await clock.advance(1)
    }
    assert.deepEqual(lists, [1, 2, 3])
    await finish(running)
  })

  test('takes a watch that ends at once, without a word, for broken', async () => {
    const { server, clock, problems, start, finish } = setUp()
    server.fail('swap')
    const running = start()
    await clock.advance(0)
    server.fail('end')
    await clock.advance(0)
    assert.deepEqual([problems.length, server.requests.length], [1, 2])
    await clock.advance(600)
    assert.equal(server.requests.length, 3)
    await finish(running)
  })

  test('does not wait for ever on a watch that is silent', async () => {
    const { server, clock, problems, start, finish } = setUp()
    const running = start()
    await clock.advance(0)
    // Its time is 450 s, and half a minute more.
    await clock.advance(479_999)
    assert.deepEqual(problems, [])
    await clock.advance(1)
    assert.match(String(problems), /nothing was heard for too long/)
    await clock.advance(600)
    server.bookmark()
    await clock.advance(180_000)
    assert.equal(problems.length, 2)
    await finish(running)
  })

  test('ends with what a listener throws', async () => {
    const { server, clock, start } = setUp({
      onEvent() {
        throw new Error('no room')
      },
    })
    const running = start()
    const failed = assert.rejects(running, /no room/)
    await clock.advance(0)
    server.put('a')
    await failed
    assert.equal(clock.sleeping, 0)
  })

  const pauses: readonly (readonly [name: string, fault: Fault, requests: number])[] = [
    ['asks at once when another reached the API that was away', 'break', 2],
    ['asks at once when another was answered by an API that failed', 'refuse', 2],
    ['lets a server that rejected it have its peace, whatever it answers to others', 'forbid', 1],
  ]
  for (const [name, fault, requests] of pauses) {
    test(name, async () => {
      const apiReturn = new ApiReturn()
      const { server, clock, start, finish } = setUp({ apiReturn })
      server.fail(fault)
      const running = start()
      await clock.advance(0)
      assert.equal(server.requests.filter((request) => request.startsWith('list')).length, 1)
      apiReturn.reached()
      await clock.advance(0)
      assert.equal(server.requests.filter((request) => request.startsWith('list')).length, requests)
      await finish(running)
    })
  }

  test('asks no more often because of others when it fails where they succeed', async () => {
    const apiReturn = new ApiReturn()
    const { server, clock, start, finish } = setUp({ apiReturn })
    const running = start()
    for (let second = 0; second < 60; second += 1) {
      server.fail('break')
      apiReturn.reached()
      await clock.advance(1000)
    }
    assert.ok(server.requests.length < 20, `asked ${server.requests.length} times in a minute`)
    await finish(running)
  })

  test('comes to the state of the server, whatever happens on the way, and reports nothing twice', async () => {
    const faults: readonly Fault[] = ['break', 'end', 'expire', 'refuse', 'garble', 'swap', 'repeat']
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.oneof(
      { arbitrary: fc.record({ put: name }), weight: 6 },
      { arbitrary: fc.record({ remove: name }), weight: 3 },
      { arbitrary: fc.record({ fault: fc.constantFrom(...faults) }), weight: 4 },
      { arbitrary: fc.record({ waitMs: fc.constantFrom(0, 500, 5000, 40_000) }), weight: 6 },
      { arbitrary: fc.constant({ bookmark: true }), weight: 1 },
      { arbitrary: fc.constant({ forget: true }), weight: 1 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { server, clock, cache, start, finish, state } = setUp()
        const running = start()
        running.catch(() => {})
        for (const each of steps) {
          if ('put' in each) server.put(each.put)
          else if ('remove' in each) server.remove(each.remove)
          else if ('fault' in each) server.fail(each.fault)
          else if ('waitMs' in each) await clock.advance(each.waitMs)
          else if ('bookmark' in each) server.bookmark()
          else server.forgetHistory()
        }
        server.heal()
        await clock.advance(60_000)
        assert.deepEqual(cache, state())
        await finish(running)
      }),
      { numRuns: 100 },
    )
  })
})

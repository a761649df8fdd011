import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { Grace } from './grace.ts'

function setUp(seconds: number) {
  const clock = new FakeClock()
  const among = new Set<Grace>()
  return { clock, among, grace: new Grace({ clock, seconds, among }), stop: new AbortController() }
}
const forever = new Promise<never>(() => {})

describe('Grace', () => {
  test('counts whole seconds down, and never below none', async () => {
    const { clock, grace } = setUp(3)
    const left = []
    for (let step = 0; step < 8; step += 1) {
      left.push(grace.secondsLeft)
      await clock.advance(500)
    }
    assert.deepEqual(left, [3, 3, 2, 2, 1, 1, 0, 0])
  })

  test('is among those of its pod until its block ends', () => {
    const { grace, among } = setUp(3)
    assert.deepEqual([...among], [grace])
    grace[Symbol.dispose]()
    assert.equal(among.size, 0)
  })

  test('waits for what comes in time, and leaves nothing behind', async () => {
    const { clock, grace, stop } = setUp(3)
    const wait = grace.waitFor(clock.sleep(2000, stop.signal), stop.signal)
    await clock.advance(2000)
    assert.equal(await wait, true)
    assert.deepEqual([clock.sleeping, getEventListeners(stop.signal, 'abort').length], [0, 0])
  })

  test('waits no longer than until its end', async () => {
    const { clock, grace, stop } = setUp(3)
    const wait = grace.waitFor(forever, stop.signal)
    await clock.advance(2999)
    assert.equal(clock.sleeping, 1)
    await clock.advance(1)
    assert.deepEqual([await wait, clock.sleeping], [false, 0])
  })

  test('when it is shortened, its end comes closer from that moment on, and never moves away', async () => {
    const { clock, grace, stop } = setUp(30)
    let moves = 0
    const count = () => {
      moves += 1
      void grace.shortened.then(count)
    }
    void grace.shortened.then(count)
    const wait = grace.waitFor(forever, stop.signal)
    await clock.advance(10_000)
    grace.shorten(5)
    await clock.advance(1000)
    grace.shorten(10)
    await clock.advance(0)
    assert.deepEqual([grace.secondsLeft, moves], [4, 1])
    await clock.advance(4000)
    assert.deepEqual([await wait, clock.sleeping], [false, 0])
  })

  test('passes on what it waits for, and the end of everything', async () => {
    const { grace, stop, clock } = setUp(3)
    await assert.rejects(grace.waitFor(Promise.reject(new Error('broke')), stop.signal), /broke/)
    const wait = grace.waitFor(forever, stop.signal)
    stop.abort(new Error('leave'))
    await assert.rejects(wait, /leave/)
    assert.equal(clock.sleeping, 0)
  })
})

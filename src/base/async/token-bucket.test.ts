import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { TokenBucket } from './token-bucket.ts'

test('TokenBucket gives a burst, then its rate, and never saves more than a burst', async () => {
  const clock = new FakeClock()
  const bucket = new TokenBucket({ perSecond: 5, burst: 3, clock })
  const takeAll = () => {
    let taken = 0
    while (taken < 100 && bucket.take()) taken += 1
    return taken
  }
  const taken = [takeAll()]
  for (const ms of [199, 1, 400, 60_000]) {
    await clock.advance(ms)
    taken.push(takeAll())
  }
  assert.deepEqual(taken, [3, 0, 1, 2, 3])
})

test('TokenBucket without a rate gives always', () => {
  const bucket = new TokenBucket({ perSecond: 0, burst: 1, clock: new FakeClock() })
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [true, true, true])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { ExpiringCache } from './expiring-cache.ts'

test('ExpiringCache holds each answer for its time, and drops what is over or oldest when it is full', async () => {
  const clock = new FakeClock()
  const cache = new ExpiringCache<number>({ clock, limit: 2 })
  const shown = () => ['a', 'b', 'c', 'd'].map((key) => cache.get(key))
  cache.set('a', 1, 100)
  cache.set('b', 2, 50)
  cache.set('never', 3, 0)
  assert.deepEqual([...shown(), cache.get('never')], [1, 2, undefined, undefined, undefined])
  await clock.advance(50)
  cache.set('c', 3, 100)
  assert.deepEqual(shown(), [1, undefined, 3, undefined])
  cache.set('d', 4, 100)
  assert.deepEqual(shown(), [undefined, undefined, 3, 4])
})

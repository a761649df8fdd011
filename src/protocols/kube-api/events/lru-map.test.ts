import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LruMap } from './lru-map.ts'

test('LruMap keeps its bound and forgets what was not used for the longest time', () => {
  const map = new LruMap<number>(2)
  map.set('a', 1)
  map.set('b', 2)
  assert.equal(map.get('a'), 1)
  map.set('c', 3)
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.size], [1, undefined, 3, 2])
  map.set('a', 4)
  map.set('d', 5)
  assert.deepEqual([map.get('a'), map.get('c'), map.get('d'), map.size], [4, undefined, 5, 2])
})

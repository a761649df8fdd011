import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VolumesInUse } from './volumes-in-use.ts'

test('VolumesInUse reports what all kinds have, as soon as each of them knows', () => {
  const reported: unknown[] = []
  const inUse: VolumesInUse = new VolumesInUse(['a', 'b'], () => void reported.push(inUse.names))
  inUse.set('a', ['a/1'])
  inUse.set('b', [])
  inUse.set('b', ['b/1', 'b/0'])
  inUse.set('a', undefined)
  assert.deepEqual(reported, [undefined, ['a/1'], ['a/1', 'b/0', 'b/1'], undefined])
})

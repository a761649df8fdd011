import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { countBytes } from './count-bytes.ts'

test('countBytes() keeps what comes before there is a reader', async () => {
  const counts: number[] = []
  const counter = countBytes((doneBytes) => void counts.push(doneBytes))
  counter.write('first ')
  // The file that takes it is still being opened.
  await setImmediate()
  await setImmediate()
  counter.end('last')
  assert.equal((await counter.toArray()).map(String).join(''), 'first last')
  assert.deepEqual(counts, [6, 10])
})

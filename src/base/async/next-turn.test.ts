import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './next-turn.ts'

test('createTurns() lets others have a turn once the work took long enough', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const next = createTurns(2)
  let turns = 0
  const other = setInterval(() => (turns += 1), 0)
  setImmediate(() => (turns += 1))
  now = 1.9
  await next()
  assert.equal(turns, 0)
  now = 2
  await next()
  assert.equal(turns > 0, true)
  const before = turns
  now = 3.9
  await next()
  assert.equal(turns, before)
  clearInterval(other)
})

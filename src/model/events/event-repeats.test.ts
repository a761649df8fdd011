import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventRepeats } from './event-repeats.ts'

test('EventRepeats: new text at once, the same text once a minute, and at once after it was over', () => {
  const repeats = new EventRepeats<string>(new Map())
  const due = (now: number, text = 'a', subject = 'x') => repeats.isDue(subject, text, now)
  assert.deepEqual([due(0), due(1), due(59_999)], [true, false, false])
  assert.deepEqual([due(60_000), due(60_001)], [true, false])
  assert.deepEqual([due(60_002, 'b'), due(60_003), due(60_004, 'a', 'y')], [true, true, true])
  repeats.forget('x')
  assert.deepEqual([due(60_005), due(60_006)], [true, false])
})

import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { systemClock } from './clock.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1

test('systemClock.sleep() sleeps longer than one timer can', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let awake = false
  const sleep = systemClock.sleep(LONGEST_TIMER_MS + 5000, new AbortController().signal).then(() => (awake = true))
  t.mock.timers.tick(LONGEST_TIMER_MS)
  await setImmediate()
  t.mock.timers.tick(4999)
  await setImmediate()
  assert.equal(awake, false)
  t.mock.timers.tick(1)
  await sleep
  assert.equal(awake, true)
})

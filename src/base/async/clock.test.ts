import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
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

test('systemClock.sleep() ends with the reason of its signal, and leaves no timer and no listener', async () => {
  const gone = new AbortController()
  const reason = new Error('enough')
  const sleep = systemClock.sleep(60_000, gone.signal)
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  gone.abort(reason)
  await assert.rejects(sleep, (error) => error === reason)
  assert.equal(timers(), before - 1)
  await assert.rejects(systemClock.sleep(0, gone.signal), (error) => error === reason)
  const stays = new AbortController()
  await systemClock.sleep(1, stays.signal)
  assert.deepEqual(getEventListeners(stays.signal, 'abort'), [])
})

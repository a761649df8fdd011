import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { Wakeup } from './wakeup.ts'

const never = new AbortController().signal

test('Wakeup keeps signals that come while no one waits as one', async () => {
  const clock = new FakeClock()
  const wakeup = new Wakeup()
  wakeup.wake()
  wakeup.wake()
  await wakeup.wait({ clock, ms: undefined }, never)
  let again = false
  const second = wakeup.wait({ clock, ms: 10 }, never).then(() => (again = true))
  await clock.advance(9)
  assert.equal(again, false)
  await clock.advance(1)
  await second
  assert.equal(clock.sleeping, 0)
})

test('Wakeup ends a wait at once and leaves no timer', async () => {
  const clock = new FakeClock()
  const wakeup = new Wakeup()
  const waiting = wakeup.wait({ clock, ms: 1000 }, never)
  await clock.advance(0)
  wakeup.wake()
  await waiting
  assert.equal(clock.sleeping, 0)
})

test('Wakeup rejects with the reason of the signal', async () => {
  const clock = new FakeClock()
  const controller = new AbortController()
  const waiting = new Wakeup().wait({ clock, ms: undefined }, controller.signal)
  const reason = new Error('leave')
  controller.abort(reason)
  await assert.rejects(waiting, reason)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { findDeathSignal } from './find-death-signal.ts'

test('findDeathSignal() finds the program of util-linux', async (t) => {
  assert.deepEqual(await findDeathSignal(systemClock, t.signal), ['setpriv', '--pdeathsig', 'KILL'])
})

test('findDeathSignal() does without where there is none', async (t) => {
  const path = process.env['PATH']
  t.after(() => (process.env['PATH'] = path))
  process.env['PATH'] = '/nowhere'
  assert.deepEqual(await findDeathSignal(systemClock, t.signal), [])
})

test('findDeathSignal() gives up when it is aborted', async () => {
  const signal = AbortSignal.abort(new Error('leave'))
  await assert.rejects(findDeathSignal(systemClock, signal), { message: 'leave' })
})

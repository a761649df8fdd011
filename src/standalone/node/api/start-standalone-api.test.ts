import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { createErrorReporter } from './start-standalone-api.ts'

test('createErrorReporter() says what goes on once, and again after ten minutes', async () => {
  const clock = new FakeClock()
  const said: string[] = []
  const report = createErrorReporter({ clock, say: (line) => void said.push(line) }, '/api.log')
  const full = 'a request to the API failed: database or disk is full'
  for (let count = 0; count < 5; count += 1) report(full)
  report('another')
  report(full)
  await clock.advance(599_999)
  report(full)
  await clock.advance(1)
  report(full)
  const lines = [full, 'another', full, full].map((what) => `the Kubernetes API: ${what}; see /api.log`)
  assert.deepEqual(said, lines)
})

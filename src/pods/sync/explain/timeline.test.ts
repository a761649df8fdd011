import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { Timeline } from './timeline.ts'

test('Timeline notes steps with their durations and failures, and those that go on', async () => {
  const clock = new FakeClock(1000)
  const timeline = new Timeline(clock)
  const end = timeline.begin('a')
  await clock.advance(50)
  end()
  // What fails later is not this step.
  end(new Error('late'))
  await assert.rejects(
    timeline.around('b', () => Promise.reject(new Error('no'))),
    /no/,
  )
  timeline.begin('c')
  assert.deepEqual(timeline.steps, [
    { name: 'a', startedAt: 1000, ms: 50, error: undefined },
    { name: 'b', startedAt: 1050, ms: 0, error: 'no' },
    { name: 'c', startedAt: 1050, ms: undefined, error: undefined },
  ])
})

test('Timeline does not grow without end, and takes the end of a step that it forgot', () => {
  const timeline = new Timeline(new FakeClock())
  const end = timeline.begin('first')
  for (let count = 0; count < 100; count += 1) timeline.begin(`step ${count}`)()
  end()
  assert.deepEqual([timeline.steps.length, timeline.steps.at(-1)?.name], [60, 'step 99'])
})

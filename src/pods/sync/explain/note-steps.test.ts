import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPodDeps } from '../../../../test/component/create-pod-deps.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { Turnstile } from '../../../base/async/turnstile.ts'
import { noteSteps } from './note-steps.ts'
import { Timeline } from './timeline.ts'

const never = new AbortController().signal

test('noteSteps() notes how long a pod waits for its turn to start or to end, and not what it does then', async () => {
  const clock = new FakeClock()
  const turnstile = () => new Turnstile({ places: 1, patienceMs: 60_000, clock })
  const { deps } = await createPodDeps()
  for (const which of ['starts', 'ends'] as const) {
    const timeline = new Timeline(clock)
    const shared = turnstile()
    const noted = noteSteps({ ...deps, [which]: shared }, timeline)[which]
    const other = Promise.withResolvers<void>()
    void shared.runInTurn(0, () => other.promise, never)
    const own = Promise.withResolvers<void>()
    const ended = noted.runInTurn(0, () => own.promise, never)
    const [waiting] = timeline.steps
    assert.match(waiting?.name ?? '', which === 'starts' ? /start slot/ : /end slot/)
    assert.equal(waiting?.ms, undefined)
    await clock.advance(2000)
    other.resolve()
    await clock.advance(3000)
    own.resolve()
    await ended
    assert.equal(timeline.steps[0]?.ms, 2000)
  }
})

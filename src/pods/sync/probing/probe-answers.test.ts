import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import type { ProbeAnswer, ProbeOutcome } from '../../probes/probe-outcome.ts'
import { ProbeAnswers } from './probe-answers.ts'
import { Timeline } from '../explain/timeline.ts'

const good: ProbeOutcome = { result: 'success', output: '' }
const bad = (output: string): ProbeOutcome => ({ result: 'failure', output })
const answer = (outcome: ProbeOutcome, containerId = 'main-0'): ProbeAnswer => ({
  type: 'readiness',
  container: 'main',
  containerId,
  outcome,
  ms: 5,
})
const observed = createObservedPod({ containers: [createInstance()] })

function setUp(...outcomes: readonly ProbeAnswer[]) {
  const clock = new FakeClock(1000)
  const timeline = new Timeline(clock)
  const answers = new ProbeAnswers(clock, timeline)
  for (const one of outcomes) answers.note(one)
  return { answers, steps: timeline.steps.map(({ error }) => error ?? 'well') }
}

describe('ProbeAnswers', () => {
  test('notes a step only when a probe begins to answer otherwise', () => {
    const { steps } = setUp(
      ...[good, good, bad('1'), bad('2'), good].map((outcome) => answer(outcome)),
      answer(good, 'main-1'),
    )
    assert.deepEqual(steps, ['well', '1', 'well', 'well'])
  })

  test('says that a probe fails which has no output', () => {
    const { answers } = setUp(answer(bad('\n')))
    assert.deepEqual(answers.failures(observed), ['readiness probe of container "main" fails, and says nothing'])
  })

  test('says what fails, with the last output', () => {
    const { answers } = setUp(answer(bad('1')), answer(bad('HTTP probe failed with statuscode: 503\n')))
    assert.deepEqual(answers.failures(observed), [
      'readiness probe of container "main" fails: HTTP probe failed with statuscode: 503',
    ])
  })

  test('says nothing of what is fine again, has ended or is unknown', () => {
    assert.deepEqual(setUp(answer(bad('1')), answer(good)).answers.failures(observed), [])
    const { answers } = setUp(answer(bad('1')))
    const ended = createObservedPod({ containers: [createInstance({ state: 'exited' })] })
    assert.deepEqual([answers.failures(ended), answers.failures(undefined)], [[], []])
    assert.deepEqual(setUp(answer(bad('1'), 'main-9')).answers.failures(observed), [])
  })

  test('reports the last answer of each probe, since when it is so, and whether its instance still runs', () => {
    const { answers } = setUp(answer(good), answer(bad('1')), answer(bad('2')))
    const report = { container: 'main', type: 'readiness', result: 'failure', output: '2', at: 995, ms: 5, since: 995 }
    assert.deepEqual(answers.reports(observed), [{ ...report, isCurrent: true }])
    assert.deepEqual(answers.reports(undefined), [{ ...report, isCurrent: false }])
  })

  test('does not repeat whole novels', () => {
    const { steps } = setUp(answer(bad('x'.repeat(1000))))
    assert.equal(steps[0]?.length, 301)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import { computeExpectedHints } from './compute-expected-hints.ts'

const created = createInstance({ state: 'created' })
const running = createInstance()
const exited = createInstance({ state: 'exited' })
const neverRan = createInstance({ state: 'exited', startedAt: 0, reason: 'StartError' })

const ROWS: readonly (readonly [string, ObservedContainer | undefined, ObservedContainer | undefined, string[]])[] = [
  ['made', undefined, created, []],
  ['made and started', undefined, running, ['started main-0']],
  ['started', created, running, ['started main-0']],
  ['still running', running, createInstance(), []],
  ['ended', running, exited, ['stopped main-0']],
  ['started and ended in between', created, exited, ['stopped main-0']],
  ['not able to start', created, neverRan, []],
  ['removed', exited, undefined, []],
  ['in a state that is not known', running, createInstance({ state: 'unknown' }), []],
]

describe('computeExpectedHints() of a container that is', () => {
  for (const [what, before, now, expected] of ROWS) {
    test(what, () => {
      const [earlier, later] = [before, now].map((part) => createObservedPod({ containers: part ? [part] : [] }))
      const hints = computeExpectedHints(earlier, later)
      assert.deepEqual(
        hints.map(({ kind, containerId }) => `${kind} ${containerId}`),
        expected,
      )
    })
  }

  test('in a pod that was not known, or is gone', () => {
    const pod = createObservedPod({ containers: [running] })
    assert.deepEqual(computeExpectedHints(undefined, pod), [{ containerId: 'main-0', kind: 'started' }])
    assert.deepEqual(computeExpectedHints(pod, undefined), [])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { Container, PodSpec } from '../../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import { settleBrokenStarts } from './settle-broken-starts.ts'

const broken = (parts: Partial<ObservedContainer> = {}) =>
  createInstance({ state: 'exited', exitCode: 128, reason: 'StartError', isBrokenOff: true, ...parts })
const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [128] } }

interface Row {
  readonly spec?: Partial<PodSpec>
  readonly own?: Partial<Container>
  readonly deleted?: boolean
  readonly has?: ObservedContainer
  readonly expected: ObservedContainer['state']
}

const rows: Readonly<Record<string, Row>> = {
  'Always: never started': { expected: 'created' },
  'OnFailure: never started': { spec: { restartPolicy: 'OnFailure' }, expected: 'created' },
  'Never: it may have run, and has ended': { spec: { restartPolicy: 'Never' }, expected: 'exited' },
  'Never, with a rule for its code: never started': {
    spec: { restartPolicy: 'Never' },
    own: { restartPolicy: 'Never', restartPolicyRules: [rule] },
    expected: 'created',
  },
  'a sidecar of a pod that runs once: never started': {
    spec: { restartPolicy: 'Never', initContainers: [createContainer({ name: 's', restartPolicy: 'Always' })] },
    has: broken({ name: 's' }),
    expected: 'created',
  },
  'a container for debugging: ended': {
    spec: { ephemeralContainers: [createContainer({ name: 'd' })] },
    has: broken({ name: 'd' }),
    expected: 'exited',
  },
  'a pod that is being deleted: ended': { deleted: true, expected: 'exited' },
  'a start that failed by itself: ended': { has: broken({ isBrokenOff: false }), expected: 'exited' },
  'a container that the pod no longer has: ended': { has: broken({ name: 'x' }), expected: 'exited' },
}

describe('settleBrokenStarts()', () => {
  for (const [name, { spec = {}, own = {}, deleted = false, has = broken(), expected }] of Object.entries(rows)) {
    test(name, () => {
      const metadata = deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}
      const pod = createPod({ metadata, spec: { containers: [createContainer(own)], ...spec } })
      const [settled] = settleBrokenStarts(pod, createObservedPod({ containers: [has] })).containers
      assert.equal(settled?.state, expected)
      assert.equal(settled?.exitCode, expected === 'created' ? 0 : 128)
      assert.equal(settled?.finishedAt, has.finishedAt)
    })
  }

  test('an observation without such a start stays the same object', () => {
    const observed = createObservedPod({ containers: [createInstance()] })
    assert.equal(settleBrokenStarts(createPod(), observed), observed)
  })
})

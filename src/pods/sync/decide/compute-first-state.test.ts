import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../../model/pod/pod.ts'
import { terminatedAt } from '../pod-state.ts'
import { computeFirstState } from './compute-first-state.ts'

const pod = createPod()
const fromApi = { ...pod, metadata: { ...pod.metadata, annotations: { [CONFIG_SOURCE_ANNOTATION]: 'api' } } }
const withStatus = (status: PodStatus) => ({ ...fromApi, status })
const now = { wasObserved: false, now: 7 }

describe('computeFirstState()', () => {
  test('begins to sync a pod that lives', () => {
    assert.deepEqual(computeFirstState(fromApi, now), { kind: 'syncing' })
  })

  test('has nothing to end of a terminal pod that never ran here', () => {
    assert.deepEqual(computeFirstState(withStatus({ phase: 'Failed' }), now), terminatedAt(7, 'keep'))
  })

  test('ends a terminal pod that has run', () => {
    const { kind } = computeFirstState(withStatus({ phase: 'Failed' }), { wasObserved: true, now: 7 })
    assert.equal(kind, 'terminating')
  })

  test('ends a pod that is being deleted', () => {
    const metadata = { ...fromApi.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 4 }
    const state = computeFirstState({ ...fromApi, metadata }, now)
    assert.deepEqual(state, { kind: 'terminating', cause: 'deleted', graceSeconds: 4, after: 'keep' })
  })
})

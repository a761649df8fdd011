import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StatefulSet, StatefulSetSpec } from '../../../model/generated/api-groups.ts'
import type { PersistentVolumeClaim, Pod } from '../../../model/generated/core-v1.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeClaimOwner, computeClaimOwners } from './compute-claim-owner.ts'
import { computeStatefulPlan, computeStatefulStatus, REVISION_LABEL } from './compute-stateful-plan.ts'

const now = Date.UTC(2026, 0, 2)
const meta = { namespace: 'default', uid: 'u', resourceVersion: '1' }
const set = (spec: Partial<StatefulSetSpec> = {}): Live<StatefulSet> => ({
  metadata: { ...meta, name: 'db' },
  spec: {
    selector: {},
    template: {},
    replicas: 3,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ...spec,
  },
})

/** "0+" is db-0, ready and new; "1-" not ready; "2!" leaving; "0o" ready and old; "0x" failed. */
function pods(text: string): readonly Live<Pod>[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const state = word.slice(-1)
      const conditions = [
        { type: 'Ready', status: '+o!'.includes(state) ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ]
      const status = { phase: state === 'x' ? 'Failed' : 'Running', conditions }
      const made = livePod(
        { name: `db-${word.slice(0, -1)}`, labels: { [REVISION_LABEL]: state === 'o' ? 'old' : 'new' } },
        status,
      )
      return state === '!'
        ? { ...made, metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
        : made
    })
}

describe('computeStatefulPlan()', () => {
  const parallel = { podManagementPolicy: 'Parallel' }
  const at = (partition: number) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } })
  for (const [name, spec, present, expected] of [
    ['the first pod', {}, '', '+0 update'],
    ['the next one', {}, '0+', '+1 update'],
    ['not before the one below is ready', {}, '0-', ''],
    ['all at once', parallel, '1-', '+0 update,+2 update'],
    ['a failed one is removed', {}, '0+ 1x', '-1'],
    ['one that is leaving is waited for', {}, '0+ 1!', ''],
    ['the highest surplus goes', { replicas: 1 }, '0+ 1+ 2+', '-2'],
    ['one at a time', { replicas: 1 }, '0+ 1+ 2!', ''],
    ['not while a lower one is ill', { replicas: 1 }, '0- 1+ 2+', ''],
    ['all surplus at once', { ...parallel, replicas: 1 }, '0+ 1+ 2+', '-2,-1'],
    ['an update begins at the top', {}, '0o 1o 2o', '-2'],
    ['… and goes on when that is well', {}, '0o 1o 2+', '-1'],
    ['… and waits for it', {}, '0o 1o 2-', ''],
    ['… down to the partition', at(2), '0o 1o 2+', ''],
    ['below the partition pods are as before', at(2), '1o 2+', '+0 current'],
    ['on deletion nothing is updated', { updateStrategy: { type: 'OnDelete' } }, '0o 1o 2o', ''],
    ['ordinals have a beginning', { ordinals: { start: 5 }, replicas: 1 }, '', '+5 update'],
  ] as const) {
    test(name, () => {
      const input = { set: set(spec), pods: pods(present), current: 'old', update: 'new', now }
      const actions = computeStatefulPlan(input).map((action) =>
        action.kind === 'create' ? `+${action.ordinal} ${action.revision}` : `-${action.pod.metadata.name.slice(3)}`,
      )
      assert.equal(actions.join(), expected)
    })
  }
})

test('a broken update holds up the one that repairs it, until its pod is deleted by hand', () => {
  const plan = (present: string) =>
    computeStatefulPlan({ set: set(), pods: pods(present), current: 'old', update: 'repaired', now }).map((action) =>
      action.kind === 'create' ? `+${action.ordinal} ${action.revision}` : `-${action.pod.metadata.name.slice(3)}`,
    )
  assert.deepEqual(plan('0o 1o 2-'), [])
  assert.deepEqual(plan('0o 1o'), ['+2 update'])
})

describe('computeStatefulStatus()', () => {
  const status = (present: string, spec = {}) =>
    computeStatefulStatus({ set: set(spec), pods: pods(present), current: 'old', update: 'new', now })
  test('counts pods by their template', () => {
    const { replicas, readyReplicas, currentReplicas, updatedReplicas, currentRevision } = status('0o 1- 2+')
    assert.deepEqual([replicas, readyReplicas, currentReplicas, updatedReplicas, currentRevision], [3, 2, 1, 2, 'old'])
  })
  test('a finished update makes the new revision the current one', () => {
    assert.equal(status('0+ 1+ 2+').currentRevision, 'new')
    assert.equal(status('0+ 1+ 2+', { updateStrategy: { type: 'OnDelete' } }).currentRevision, 'old')
  })
})

describe('owners of claims', () => {
  for (const [whenScaled, whenDeleted, kept, surplus] of [
    ['Retain', 'Retain', 'none', 'none'],
    ['Retain', 'Delete', 'set', 'set'],
    ['Delete', 'Retain', 'none', 'pod'],
    ['Delete', 'Delete', 'set', 'pod'],
  ] as const) {
    test(`when scaled ${whenScaled}, when deleted ${whenDeleted}`, () => {
      const of = set({ persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } })
      assert.deepEqual([computeClaimOwner(of, false), computeClaimOwner(of, true)], [kept, surplus])
    })
  }

  test('a claim that another controller has is left alone', () => {
    const reference = (uid: string) => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: 'db',
      uid,
      controller: true,
    })
    const claim = (uid?: string): Live<PersistentVolumeClaim> => ({
      metadata: { ...meta, name: 'c', ...(uid !== undefined && { ownerReferences: [reference(uid)] }) },
      spec: {},
    })
    const isOurs = ({ uid }: { readonly uid: string }) => uid === 'u'
    assert.equal(computeClaimOwners(claim('other'), reference('u'), isOurs), undefined)
    assert.deepEqual(computeClaimOwners(claim(), reference('u'), isOurs), [reference('u')])
    assert.equal(computeClaimOwners(claim('u'), reference('u'), isOurs), undefined)
    assert.deepEqual(computeClaimOwners(claim('u'), undefined, isOurs), [])
  })
})

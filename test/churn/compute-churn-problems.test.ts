import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Deployment, ReplicaSet } from '../../src/model/generated/api-groups.ts'
import type { Pod } from '../../src/model/generated/core-v1.ts'
import { computeChurnProblems } from './compute-churn-problems.ts'
import type { ChurnState } from './compute-churn-problems.ts'

const owner = (kind: string, uid: string) => [{ apiVersion: 'apps/v1', kind, name: uid, uid, controller: true }]
const deployment: Deployment = {
  metadata: { name: 'web', uid: 'd', generation: 2 },
  spec: { replicas: 2, selector: {}, template: { metadata: { annotations: { version: '1' } } } },
  status: { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
}
const set = (uid: string, replicas: number): ReplicaSet => ({
  metadata: { name: uid, uid, ownerReferences: owner('Deployment', 'd') },
  spec: { replicas, selector: {} },
})
const pod = (name: string, of: string, version = '1'): Pod => ({
  metadata: { name, annotations: { version }, ownerReferences: owner('ReplicaSet', of) },
  status: { phase: 'Running' },
})
const right: ChurnState = {
  names: ['web'],
  wanted: new Map([['web', { replicas: 2, version: '1' }]]),
  unsure: new Set(),
  deployments: [deployment],
  sets: [set('new', 2), set('old', 0)],
  pods: [pod('a', 'new'), pod('b', 'new')],
}

describe('computeChurnProblems() finds', () => {
  for (const [name, state, expected] of [
    ['nothing where all is right', {}, []],
    ['a pod too many', { pods: [...right.pods, pod('c', 'new')] }, ['web: 3 pods, not 2']],
    ['a pod too few', { pods: [pod('a', 'new')] }, ['web: 1 pods, not 2']],
    ['a pod of an old template', { pods: [pod('a', 'new'), pod('b', 'new', '0')] }, ['web: pods of 1 and 0, not 1']],
    ['a pod without an owner', { pods: [...right.pods, pod('c', 'gone')] }, ['the pod c belongs to no Deployment']],
    ['two sets at work', { sets: [set('new', 2), set('old', 1)] }, ['web: 2 sets with pods']],
    ['sets that stayed', { sets: [set('new', 2), set('1', 0), set('2', 0), set('3', 0)] }, ['web: 4 sets']],
    [
      'a change that was lost',
      { wanted: new Map([['web', { replicas: 2, version: '2' }]]) },
      ['web: an acknowledged change was lost: 2 of 1, not 2 of 2'],
    ],
    [
      'none where it is not known whether it was made',
      { wanted: new Map([['web', { replicas: 2, version: '2' }]]), unsure: new Set(['web']) },
      [],
    ],
    ['a Deployment that is gone', { deployments: [], sets: [], pods: [] }, ['web is gone']],
  ] as const)
    test(name, () => assert.deepEqual(computeChurnProblems({ ...right, ...state }), expected))
})

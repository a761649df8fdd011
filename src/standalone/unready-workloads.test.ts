import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeUnreadyWorkload } from './unready-workloads.ts'

test('describeUnreadyWorkload() says what a workload lacks, and why its pods cannot be made', () => {
  const metadata = { namespace: 'shop', name: 'web', generation: 1 }
  const spec = { replicas: 3 }
  const status = { observedGeneration: 1, readyReplicas: 1, updatedReplicas: 1 }
  const refused = 'pods "web-1" is forbidden: exceeded quota: small'
  const failure = { type: 'ReplicaFailure', status: 'True', message: refused }
  const event = (kind: string, namespace = 'shop', reason = 'FailedCreate') => ({
    metadata: {},
    involvedObject: { kind, namespace, name: 'web' },
    reason,
    message: `${kind}: ${refused}`,
  })
  const describe = (kind: string, conditions = [failure], events = [event('StatefulSet')]) =>
    describeUnreadyWorkload(kind, { metadata, spec, status: { ...status, conditions } }, events)
  const lacks = 'shop/web: 1 of 3 replicas are ready'
  assert.equal(describe('Deployment'), `Deployment ${lacks}: ${refused}`)
  assert.equal(describe('StatefulSet', []), `StatefulSet ${lacks}: StatefulSet: ${refused}`)
  assert.equal(describe('Deployment', [{ ...failure, status: 'False' }]), `Deployment ${lacks}`)
  const others = [event('StatefulSet', 'other'), event('StatefulSet', 'shop', 'SuccessfulCreate')]
  assert.equal(describe('StatefulSet', [], others), `StatefulSet ${lacks}`)
  const done = { ...status, readyReplicas: 3, updatedReplicas: 3 }
  assert.equal(describeUnreadyWorkload('Deployment', { metadata, spec, status: done }, []), undefined)
})

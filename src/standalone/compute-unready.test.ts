import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StorageClass } from '../model/generated/api-groups.ts'
import { computeUnreadyIngress, computeUnreadyObject, computeUnreadyPods } from './compute-unready.ts'
import type { WorkloadObject } from './compute-unready.ts'

const generation = { generation: 2 }
const late = { provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' }
const chosen = { annotations: { 'volume.kubernetes.io/selected-node': 'node-1' } }
const rows: readonly (readonly [
  kind: string,
  object: WorkloadObject,
  expected: string | undefined,
  storageClass?: StorageClass,
])[] = [
  ['ConfigMap', {}, undefined],
  ['Deployment', { metadata: generation, spec: { replicas: 2 } }, '0 of 2 replicas are ready'],
  [
    'Deployment',
    {
      metadata: generation,
      spec: { replicas: 2 },
      status: { observedGeneration: 1, readyReplicas: 2, updatedReplicas: 2 },
    },
    '2 of 2 replicas are ready',
  ],
  [
    'Deployment',
    {
      metadata: generation,
      spec: { replicas: 2 },
      status: { observedGeneration: 2, readyReplicas: 2, updatedReplicas: 1 },
    },
    '2 of 2 replicas are ready',
  ],
  [
    'Deployment',
    {
      metadata: generation,
      spec: { replicas: 2 },
      status: { observedGeneration: 2, readyReplicas: 2, updatedReplicas: 2 },
    },
    undefined,
  ],
  ['ReplicaSet', { status: { readyReplicas: 1 } }, undefined],
  ['StatefulSet', { spec: { replicas: 0 } }, undefined],
  ['DaemonSet', {}, '0 of 1 pods are ready'],
  ['DaemonSet', { status: { desiredNumberScheduled: 1, numberReady: 1 } }, undefined],
  ['Job', {}, 'is not complete'],
  ['Job', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }, undefined],
  ['Job', { status: { conditions: [{ type: 'Failed', status: 'True', message: 'too often' }] } }, 'failed: too often'],
  ['PersistentVolumeClaim', { status: { phase: 'Pending' } }, 'is not bound'],
  ['PersistentVolumeClaim', { status: { phase: 'Bound' } }, undefined],
  [
    'PersistentVolumeClaim',
    { status: { phase: 'Pending' } },
    'is not bound',
    { ...late, volumeBindingMode: 'Immediate' },
  ],
  ['PersistentVolumeClaim', { status: { phase: 'Pending' } }, undefined, late],
  ['PersistentVolumeClaim', { status: { phase: 'Pending' }, metadata: chosen }, 'is not bound', late],
  ['PersistentVolumeClaim', { status: { phase: 'Bound' }, metadata: chosen }, undefined, late],
  ['PersistentVolumeClaim', { status: { phase: 'Lost' } }, 'is not bound', late],
  ['PersistentVolumeClaim', {}, 'is not bound', late],
]

describe('computeUnreadyObject()', () => {
  for (const [kind, object, expected, storageClass] of rows)
    test(`${kind} ${JSON.stringify(object)} ${storageClass?.volumeBindingMode ?? ''}`, () =>
      assert.equal(computeUnreadyObject(kind, object, storageClass), expected))
})

test('computeUnreadyPods() gives the reasons of those that are neither ready nor done', () => {
  const whole = { uid: '', restarts: 0, address: '', waiting: '' }
  const pod = { ...whole, namespace: 'default', ready: false, phase: 'Pending', isControlled: false }
  assert.deepEqual(
    computeUnreadyPods([
      { ...pod, name: 'ready', ready: true, phase: 'Running' },
      { ...pod, name: 'done', phase: 'Succeeded' },
      { ...pod, name: 'ending', phase: 'Terminating' },
      { ...pod, name: 'new' },
      { ...pod, name: 'waits', waiting: 'Waits: container "a" ErrImagePull' },
      { ...pod, name: 'failed', phase: 'Failed' },
      { ...pod, name: 'of-a-job', phase: 'Failed', isControlled: true },
      { ...pod, name: 'of-a-set', isControlled: true },
    ]),
    [
      'default/new: Pending',
      'default/waits: Waits: container "a" ErrImagePull',
      'default/failed: Failed',
      'default/of-a-set: Pending',
    ],
  )
})

describe('computeUnreadyIngress()', () => {
  const own = { spec: { controller: 'deckhand.local/ingress' } }
  const other = { spec: { controller: 'example.com/ingress' } }
  const http = { protocol: 'http', port: 80, why: 'it is taken' } as const
  const https = { protocol: 'https', port: 443, why: 'it is taken' } as const
  const both = { http: 80, https: 443 }
  const plain = { spec: {} }
  const secure = { spec: { tls: [{ hosts: ['a.example'] }] } }
  const http80 = 'HTTP on port 80 is not served: it is taken'
  const https443 = 'HTTPS on port 443 is not served: it is taken'
  for (const [what, ingress, ingressClass, node, expected] of [
    ['all ports are open', secure, own, { asked: both, problems: [] }, undefined],
    [
      'they were not tried yet',
      plain,
      own,
      { asked: both, problems: undefined },
      'the ports of the ingress are not open yet',
    ],
    ['HTTP is for all', plain, own, { asked: both, problems: [http] }, http80],
    [
      'HTTPS is for those with certificates',
      secure,
      own,
      { asked: both, problems: [http, https] },
      `${http80}; ${https443}`,
    ],
    ['and not for others', plain, own, { asked: both, problems: [https] }, undefined],
    ['unless there is nothing else', plain, own, { asked: { https: 443 }, problems: [https] }, https443],
    ['another controller has ports of its own', secure, other, { asked: both, problems: [http, https] }, undefined],
    ['as has that of a class that is not there', secure, undefined, { asked: both, problems: undefined }, undefined],
  ] as const)
    test(what, () => assert.equal(computeUnreadyIngress(ingress, ingressClass, node), expected))
})

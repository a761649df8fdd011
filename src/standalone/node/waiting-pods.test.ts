import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toWaitingPod } from './waiting-pods.ts'

test('toWaitingPod() says what a pod waits for, and which of its claims have no volume', () => {
  const message = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.'
  const claim = (name: string, phase: string, namespace = 'default') => ({
    metadata: { name, namespace, uid: `${namespace}/${name}` },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
    status: { phase },
  })
  const pod = {
    metadata: { name: 'db', namespace: 'default', uid: 'u' },
    spec: {
      containers: [],
      volumes: ['free', 'bound'].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message }] },
  }
  const around = { claims: [], events: [], hasScheduler: true }
  const all = [claim('free', 'Pending'), claim('bound', 'Bound'), claim('free', 'Pending', 'other')]
  const { waiting, claims } = toWaitingPod(pod, { ...around, claims: all })
  assert.equal(waiting, `Waits for the node: ${message}`)
  assert.deepEqual(claims, [
    'claim "free" is not bound (1Gi, ReadWriteOnce, storage class "fast"): no volume that is free has that, and none is made for it: create a PersistentVolume',
  ])
  const event = (reason: string, lastTimestamp: string, uid = 'default/free') => ({
    metadata: {},
    involvedObject: { uid },
    reason,
    message: 'why',
    lastTimestamp,
  })
  const said = [event('Old', '2026-01-01T00:00:00Z'), event('New', '2026-01-01T00:00:01Z'), event('Other', '2027', 'x')]
  assert.match(
    toWaitingPod(pod, { ...around, claims: all, events: said }).claims[0] ?? '',
    /storage class "fast"\): New: why$/,
  )
  const silent = (schedulerName: string, hasScheduler: boolean) =>
    toWaitingPod({ ...pod, spec: { containers: [], schedulerName }, status: {} }, { ...around, hasScheduler }).waiting
  assert.equal(silent('default-scheduler', true), 'Waits for the scheduler')
  assert.match(silent('default-scheduler', false), /^Waits for the scheduler: this node runs without one/)
  assert.equal(silent('mine', false), 'Waits for the scheduler "mine"')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { computePodCounts } from './compute-pod-counts.ts'

test('computePodCounts() counts desired, running and worked-on pods apart', () => {
  const create = (uid: string, annotations: Readonly<Record<string, string>>, ephemeral = 0) =>
    createPod({
      metadata: { uid: parsePodUid(uid), annotations },
      spec: { ephemeralContainers: Array.from({ length: ephemeral }, (_, index) => ({ name: `e${index}` })) },
    })
  const wanted = [
    { pod: create('a', { 'kubernetes.io/config.source': 'file' }), status: { phase: 'Running' } },
    { pod: create('b', { 'kubernetes.io/config.source': 'api' }, 2), status: { phase: 'Succeeded' } },
    { pod: create('c', { 'kubernetes.io/config.mirror': 'x' }), status: {} },
  ]
  const observed = [
    { sandboxes: [{ ready: true }], containers: [{ state: 'running' }, { state: 'exited' }] },
    { sandboxes: [{ ready: false }], containers: [{ state: 'exited' }] },
  ] as unknown as readonly ObservedPod[]
  const worked = [
    { uid: 'a', state: 'waiting' },
    { uid: 'b', state: 'terminated' },
    { uid: 'c', state: 'syncing' },
    { uid: 'd', state: 'terminating' },
    { uid: 'e', state: 'terminating' },
  ] as const
  assert.deepEqual(computePodCounts(wanted, observed, worked), {
    desired: { '': 2, true: 1 },
    active: { '': 1, true: 1 },
    mirror: 1,
    ephemeralContainers: 2,
    running: 1,
    containers: { created: 0, exited: 2, running: 1, unknown: 0 },
    working: [
      { lifecycle: 'sync', config: 'desired', static: 'true', count: 1 },
      { lifecycle: 'terminated', config: 'desired', static: '', count: 1 },
      { lifecycle: 'sync', config: 'desired', static: '', count: 1 },
      { lifecycle: 'terminating', config: 'orphan', static: 'unknown', count: 2 },
    ],
  })
})

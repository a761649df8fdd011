import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { parseAmounts } from '../compute-pod-requests.ts'
import type { Pod } from '../../pod/pod.ts'
import { computeShortages } from './compute-shortages.ts'
import type { Shortage } from './compute-shortages.ts'

type Requests = Readonly<Record<string, string>>

const asking = (requests: Requests): Pod =>
  createPod({ spec: { containers: [createContainer({ resources: { requests } })] } })

describe('computeShortages()', () => {
  const node = { pods: '3', cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', 'example.com/gpu': '1' }
  const rows: readonly (readonly [string, Requests, readonly Requests[], readonly Shortage[]])[] = [
    ['nothing asked', {}, [{ cpu: '2' }], []],
    ['exactly what is left', { cpu: '1500m', memory: '512Mi' }, [{ cpu: '500m', memory: '512Mi' }], []],
    [
      'too little CPU, in thousandths',
      { cpu: '1501m' },
      [{ cpu: '500m' }],
      [{ resource: 'cpu', requested: 1501n, used: 500n, capacity: 2000n }],
    ],
    [
      'all that is missing, in order',
      { memory: '2Gi', cpu: '3', 'ephemeral-storage': '11Gi', 'example.com/gpu': '1', 'hugepages-2Mi': '2Mi' },
      [{ 'example.com/gpu': '1' }],
      [
        { resource: 'cpu', requested: 3000n, used: 0n, capacity: 2000n },
        { resource: 'memory', requested: 2_147_483_648n, used: 0n, capacity: 1_073_741_824n },
        { resource: 'ephemeral-storage', requested: 11_811_160_064n, used: 0n, capacity: 10_737_418_240n },
        { resource: 'example.com/gpu', requested: 1n, used: 1n, capacity: 1n },
        { resource: 'hugepages-2Mi', requested: 2_097_152n, used: 0n, capacity: 0n },
      ],
    ],
    ['no place for another pod', {}, [{}, {}, {}], [{ resource: 'pods', requested: 1n, used: 3n, capacity: 3n }]],
    ['what belongs to the cluster', { 'example.com/licence': '1' }, [], []],
    ['a request of nothing on a full node', { cpu: '0' }, [{ cpu: '9' }], []],
  ]
  for (const [name, requests, others, expected] of rows) {
    test(name, () => {
      const room = { otherPods: others.map(asking), allocatable: parseAmounts(node) }
      assert.deepEqual(computeShortages(asking(requests), room), expected)
    })
  }

  test('counts overhead, of the pod and of the others', () => {
    const heavy = createPod({ spec: { overhead: { cpu: '1' } } })
    assert.deepEqual(computeShortages(heavy, { otherPods: [heavy, heavy], allocatable: parseAmounts(node) }), [
      { resource: 'cpu', requested: 1000n, used: 2000n, capacity: 2000n },
    ])
  })
})

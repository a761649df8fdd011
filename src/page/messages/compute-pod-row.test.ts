import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ContainerStatus, PodSpec, PodStatus } from '../../model/generated/core-v1.ts'
import { computePodRow } from './compute-pod-row.ts'

const container = { name: 'main', image: 'a' }
const spec: PodSpec = { nodeName: 'n', containers: [container] }
const main: ContainerStatus = { name: 'main', image: 'a', imageID: 'a', ready: false, restartCount: 2 }
const ready = [{ type: 'Ready', status: 'True' }]

const rows: readonly (readonly [status: string, podStatus: PodStatus, more?: Partial<PodSpec>])[] = [
  ['Unknown', {}],
  ['Pending', { phase: 'Pending' }],
  [
    'Running',
    { phase: 'Running', conditions: ready, containerStatuses: [{ ...main, ready: true, state: { running: {} } }] },
  ],
  [
    'CrashLoopBackOff',
    { phase: 'Running', containerStatuses: [{ ...main, state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
  ],
  [
    'Error',
    { phase: 'Failed', containerStatuses: [{ ...main, state: { terminated: { exitCode: 1, reason: 'Error' } } }] },
  ],
  ['ExitCode:3', { phase: 'Failed', containerStatuses: [{ ...main, state: { terminated: { exitCode: 3 } } }] }],
  [
    'Completed',
    {
      phase: 'Succeeded',
      containerStatuses: [{ ...main, state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
    },
  ],
  ['Evicted', { phase: 'Failed', reason: 'Evicted', message: 'The node was low on memory' }],
  [
    'Init:0/1',
    { phase: 'Pending', initContainerStatuses: [{ ...main, name: 'i', state: { running: {} } }] },
    { initContainers: [{ name: 'i', image: 'a' }] },
  ],
  [
    'Init:ErrImagePull',
    {
      phase: 'Pending',
      initContainerStatuses: [{ ...main, name: 'i', state: { waiting: { reason: 'ErrImagePull' } } }],
    },
    { initContainers: [{ name: 'i', image: 'a' }] },
  ],
]

describe('computePodRow()', () => {
  for (const [expected, status, more] of rows)
    test(expected, () => assert.equal(computePodRow({ spec: { ...spec, ...more }, status }).status, expected))

  test('counts containers that have to be ready, sidecars among them, and all restarts', () => {
    const side = { name: 'side', image: 'a', restartPolicy: 'Always' as const }
    const row = computePodRow({
      metadata: { uid: 'u', name: 'web', namespace: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { ...spec, initContainers: [{ name: 'once', image: 'a' }, side] },
      status: {
        phase: 'Running',
        initContainerStatuses: [
          { ...main, name: 'once', ready: true, restartCount: 1 },
          { ...main, name: 'side', ready: true, restartCount: 0 },
        ],
        containerStatuses: [main],
      },
    })
    assert.deepEqual([row.ready, row.containers, row.restarts, row.status], [1, 2, 3, 'Terminating'])
  })

  test('marks a pod that the node did not let in', () => {
    const of = (status: PodStatus) => {
      const { isRejected, note } = computePodRow({ spec, status })
      return [isRejected, note]
    }
    const message = "Pod was rejected: Node didn't have enough resource: cpu"
    assert.deepEqual(of({ phase: 'Failed', reason: 'OutOfcpu', message }), [true, message])
    assert.deepEqual(of({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }), [false, 'low on memory'])
  })

  test('has the uid of the static pod where it is a mirror of one: the agent knows it by that', () => {
    const annotations = { 'kubernetes.io/config.mirror': 'static' }
    assert.equal(computePodRow({ metadata: { uid: 'mirror', annotations }, spec, status: {} }).uid, 'static')
  })

  test('says of a pod without a node what the scheduler says', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: 'too few CPUs' }]
    const note = (status: PodStatus) => computePodRow({ spec: { containers: [container] }, status }).note
    assert.equal(note({ conditions }), 'Waits for the node: too few CPUs')
    assert.equal(note({}), 'Waits for the scheduler')
  })
})

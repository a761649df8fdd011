import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computePressureRejection } from './compute-pressure-rejection.ts'
import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'

const NONE: NodePressures = { memory: false, disk: false, pid: false }
const plain = createPod()
const critical = createPod({ spec: { priority: 2_000_000_000 } })
const promised = createPod({
  spec: { containers: [createContainer({ resources: { requests: { memory: '1Mi' } } })] },
})
const patient = createPod({
  spec: { tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }] },
})

describe('computePressureRejection()', () => {
  const rows: readonly (readonly [string, Pod, Partial<NodePressures>, string | undefined])[] = [
    ['no pressure', plain, {}, undefined],
    ['a pod without promises', plain, { memory: true }, 'The node had condition: [MemoryPressure]. '],
    ['a pod with promised memory', promised, { memory: true }, undefined],
    ['a pod that tolerates it', patient, { memory: true }, undefined],
    ['a critical pod', critical, { memory: true, disk: true, pid: true }, undefined],
    ['promises do not help against a full disk', promised, { disk: true }, 'The node had condition: [DiskPressure]. '],
    [
      'nor does patience when there is more',
      patient,
      { memory: true, pid: true },
      'The node had condition: [MemoryPressure PIDPressure]. ',
    ],
  ]
  for (const [name, pod, pressures, message] of rows) {
    test(name, () => {
      const found = computePressureRejection(pod, { pressures: { ...NONE, ...pressures }, taintComparisons: false })
      assert.deepEqual(found, message === undefined ? undefined : { reason: 'Evicted', message })
    })
  }
})

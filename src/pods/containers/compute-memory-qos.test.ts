import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeMemoryQos } from './compute-memory-qos.ts'
import type { MemoryQosSettings } from './compute-memory-qos.ts'

const settings: MemoryQosSettings = {
  throttlingFactor: 0.9,
  protectsMemory: false,
  allocatableBytes: 1000n * 1024n * 1024n,
}
const unprotected = { 'memory.min': '0', 'memory.low': '0' }

describe('computeMemoryQos()', () => {
  const rows: readonly {
    readonly name: string
    readonly qosClass?: string
    readonly request?: string
    readonly limit?: string
    readonly settings?: Partial<MemoryQosSettings>
    readonly expected: Readonly<Record<string, string>>
  }[] = [
    // 100 MiB + 0.9 × 100 MiB is 190 MiB.
    {
      name: 'slowed down on the way to the limit',
      request: '100Mi',
      limit: '200Mi',
      expected: { ...unprotected, 'memory.high': '199229440' },
    },
    {
      name: 'without a limit on the way to all that pods may have',
      request: '100Mi',
      expected: { ...unprotected, 'memory.high': '954204160' },
    },
    { name: 'in whole pages', request: '1', limit: '10000', expected: { ...unprotected, 'memory.high': '8192' } },
    { name: 'not at all when that is less than asked for', request: '4097', limit: '4100', expected: unprotected },
    { name: 'not at all when nothing lies between', request: '100Mi', limit: '100Mi', expected: unprotected },
    {
      name: 'not at all when it is unknown what pods may have',
      request: '100Mi',
      settings: { allocatableBytes: undefined },
      expected: unprotected,
    },
    {
      name: 'protected hard in a Guaranteed pod',
      qosClass: 'Guaranteed',
      request: '100Mi',
      limit: '100Mi',
      settings: { protectsMemory: true },
      expected: { 'memory.min': '104857600' },
    },
    {
      name: 'protected softly in another',
      request: '100Mi',
      limit: '200Mi',
      settings: { protectsMemory: true },
      expected: { 'memory.low': '104857600', 'memory.high': '199229440' },
    },
    {
      name: 'nothing to protect',
      qosClass: 'BestEffort',
      settings: { protectsMemory: true, allocatableBytes: 0n },
      expected: unprotected,
    },
  ]
  for (const { name, qosClass = 'Burstable', request, limit, settings: changed, expected } of rows) {
    test(name, () => {
      const amounts = (memory: string | undefined) => parseAmounts(memory === undefined ? {} : { memory })
      const needs = { requests: amounts(request), limits: amounts(limit) }
      const pod = createPod({ status: { qosClass } })
      assert.deepEqual(computeMemoryQos(pod, needs, { ...settings, ...changed }), expected)
    })
  }
})

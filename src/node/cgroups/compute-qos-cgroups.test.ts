import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computePodShare, computeQosCgroups } from './compute-qos-cgroups.ts'
import type { PodShare, QosSettings } from './compute-qos-cgroups.ts'

const settings: QosSettings = { reserve: undefined, protectsMemory: undefined, hugepageSizes: [] }
const hugepageLimits = new Map<string, bigint>()
const bestEffort = { cpuShares: 2n, hugepageLimits }
const pods: readonly PodShare[] = [
  { qosClass: 'Guaranteed', milliCpu: 4000n, memoryBytes: 1000n },
  { qosClass: 'Burstable', milliCpu: 500n, memoryBytes: 300n },
  { qosClass: 'Burstable', milliCpu: 250n, memoryBytes: 100n },
  { qosClass: 'BestEffort', milliCpu: 0n, memoryBytes: 0n },
]

describe('computeQosCgroups()', () => {
  test('without pods every class has the least', () => {
    assert.deepEqual(computeQosCgroups([], settings), { pods: {}, burstable: bestEffort, bestEffort })
  })

  test('Burstable pods together weigh what they ask for', () => {
    const burstable = { cpuShares: 768n, hugepageLimits }
    assert.deepEqual(computeQosCgroups(pods, settings), { pods: {}, burstable, bestEffort })
  })

  test('huge pages are limited above and below, not here', () => {
    const unlimited = new Map([['2MB', 1n << 62n]])
    const { burstable, bestEffort: lowest } = computeQosCgroups([], { ...settings, hugepageSizes: ['2MB'] })
    assert.deepEqual([burstable.hugepageLimits, lowest.hugepageLimits], [unlimited, unlimited])
  })

  test('memory that better classes ask for is kept from the others', () => {
    const reserve = { percent: 50n, podsBytes: 10_000n }
    const { burstable, bestEffort: lowest } = computeQosCgroups(pods, { ...settings, reserve })
    assert.deepEqual([burstable.memoryLimitBytes, lowest.memoryLimitBytes], [9500n, 9300n])
    const few = computeQosCgroups(pods, { ...settings, reserve: { percent: 100n, podsBytes: 900n } })
    assert.deepEqual([few.burstable.memoryLimitBytes, few.bestEffort.memoryLimitBytes], [0n, 0n])
  })

  test('memory that pods ask for is protected above them too, and no longer when that is switched off', () => {
    const on = computeQosCgroups(pods, { ...settings, protectsMemory: true })
    assert.deepEqual([on.pods, on.burstable.memoryLowBytes], [{ memoryMinBytes: 1400n }, 400n])
    const off = computeQosCgroups(pods, { ...settings, protectsMemory: false })
    assert.deepEqual([off.pods, off.burstable.memoryLowBytes], [{ memoryMinBytes: 0n }, 0n])
  })
})

test('computePodShare() counts what the whole pod asks for', () => {
  const container = createContainer({ resources: { requests: { cpu: '100m', memory: '1k' } } })
  const pod = createPod({ spec: { containers: [container], overhead: { cpu: '50m' } } })
  assert.deepEqual(computePodShare(pod), { qosClass: 'Burstable', milliCpu: 150n, memoryBytes: 1000n })
  assert.deepEqual(computePodShare(createPod()), { qosClass: 'BestEffort', milliCpu: 0n, memoryBytes: 0n })
})

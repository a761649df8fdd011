import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { PodSpec, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import { computeExclusiveCount } from './compute-exclusive-count.ts'

const same = (cpu: string): ResourceRequirements => ({
  requests: { cpu, memory: '1Gi' },
  limits: { cpu, memory: '1Gi' },
})

const rows: readonly { name: string; resources: ResourceRequirements; spec?: Partial<PodSpec>; count: number }[] = [
  { name: 'a whole number', resources: same('2'), count: 2 },
  { name: 'a whole number in thousandths', resources: same('3000m'), count: 3 },
  { name: 'a part of a CPU', resources: same('1500m'), count: 0 },
  { name: 'less than a CPU', resources: same('500m'), count: 0 },
  { name: 'a pod that is not Guaranteed', resources: { requests: { cpu: '2', memory: '1Gi' } }, count: 0 },
  { name: 'a pod without requests', resources: {}, count: 0 },
  { name: 'a pod with resources of its own', resources: same('2'), spec: { resources: same('4') }, count: 0 },
]

describe('computeExclusiveCount()', () => {
  for (const { name, resources, spec, count } of rows) {
    test(`${name}: ${count}`, () => {
      const container = createContainer({ resources })
      assert.equal(computeExclusiveCount(createPod({ spec: { containers: [container], ...spec } }), container), count)
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { PodSpec, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { PodLevel } from '../../placement/pod-level.ts'
import { computeExclusiveCount } from './compute-exclusive-count.ts'

const same = (cpu: string): ResourceRequirements => ({
  requests: { cpu, memory: '1Gi' },
  limits: { cpu, memory: '1Gi' },
})

interface Row {
  readonly name: string
  readonly resources: ResourceRequirements
  readonly spec?: Partial<PodSpec>
  readonly level?: PodLevel
  readonly count: number
}

const rows: readonly Row[] = [
  { name: 'a whole number', resources: same('2'), count: 2 },
  { name: 'a whole number in thousandths', resources: same('3000m'), count: 3 },
  { name: 'a part of a CPU', resources: same('1500m'), count: 0 },
  { name: 'less than a CPU', resources: same('500m'), count: 0 },
  { name: 'a pod that is not Guaranteed', resources: { requests: { cpu: '2', memory: '1Gi' } }, count: 0 },
  { name: 'a pod without requests', resources: {}, count: 0 },
  { name: 'a pod with resources of its own', resources: same('2'), spec: { resources: same('4') }, count: 0 },
  {
    name: 'a container of such a pod, when these take part',
    resources: same('2'),
    spec: { resources: same('4') },
    level: 'container',
    count: 2,
  },
  {
    name: 'one of them with less memory than its limit',
    resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
    spec: { resources: same('4') },
    level: 'pod',
    count: 0,
  },
  { name: 'one of them without resources', resources: {}, spec: { resources: same('4') }, level: 'pod', count: 0 },
  {
    name: 'one of a pod that is not Guaranteed',
    resources: same('2'),
    spec: { resources: { requests: { cpu: '4' } } },
    level: 'pod',
    count: 0,
  },
]

describe('computeExclusiveCount()', () => {
  for (const { name, resources, spec, level = 'off', count } of rows) {
    test(`${name}: ${count}`, () => {
      const container = createContainer({ resources })
      const pod = createPod({ spec: { containers: [container], ...spec } })
      assert.equal(computeExclusiveCount(pod, container, level), count)
    })
  }
})

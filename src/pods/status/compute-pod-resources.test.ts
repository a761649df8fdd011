import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computePodResources } from './compute-pod-resources.ts'

describe('computePodResources()', () => {
  test('says of a pod that asks for nothing that it has nothing', () => {
    assert.deepEqual(computePodResources(createPod(), undefined), { resources: {} })
  })

  test('sums up containers and overhead', () => {
    const resources = { requests: { cpu: '500m' }, limits: { memory: '1Gi' } }
    const containers = ['a', 'b'].map((name) => createContainer({ name, resources }))
    const pod = createPod({ spec: { containers, overhead: { cpu: '1', memory: '1Gi' } } })
    assert.deepEqual(computePodResources(pod, undefined), {
      allocatedResources: { cpu: '2', memory: '1Gi' },
      resources: { limits: { memory: '3Gi' }, requests: { cpu: '2', memory: '1Gi' } },
    })
  })
})

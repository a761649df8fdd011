import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { ResourceRequirements } from '../generated/core-v1.ts'
import { allocationOf, withAllocation } from './pod-allocation.ts'

const small = { requests: { cpu: '100m' } }
const large = { requests: { cpu: '200m' } }
const pod = createPod({
  spec: {
    initContainers: [
      createContainer({ name: 'prepare', resources: large }),
      createContainer({ name: 'proxy', restartPolicy: 'Always', resources: large }),
    ],
    containers: [createContainer({ name: 'main', resources: large }), createContainer({ name: 'plain' })],
    resources: large,
  },
})
const all = { initContainers: true, podLevel: true }

test('allocationOf() names all that can be resized', () => {
  assert.deepEqual(allocationOf(pod, all), {
    containers: new Map<string, ResourceRequirements>([
      ['prepare', large],
      ['proxy', large],
      ['main', large],
      ['plain', {}],
    ]),
    pod: large,
  })
  const { containers, pod: whole } = allocationOf(pod, { initContainers: false, podLevel: false })
  assert.deepEqual([[...containers.keys()], whole], [['proxy', 'main', 'plain'], undefined])
})

test('withAllocation() gives parts what they were granted, and the rest what the spec says', () => {
  const allocation = { containers: new Map([['main', small]]), pod: small }
  const { spec } = withAllocation(pod, allocation, all)
  assert.deepEqual(
    [...(spec.initContainers ?? []), ...spec.containers].map(({ name, resources }) => [name, resources]),
    [
      ['prepare', large],
      ['proxy', large],
      ['main', small],
      ['plain', undefined],
    ],
  )
  assert.deepEqual(spec.resources, small)
  assert.deepEqual(withAllocation(pod, allocation, { ...all, podLevel: false }).spec.resources, large)
})

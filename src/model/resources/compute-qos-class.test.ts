import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computeQosClass } from './compute-qos-class.ts'
import type { ResourceRequirements } from '../generated/core-v1.ts'

const full = { cpu: '1', memory: '1Gi' }
const guaranteed: ResourceRequirements = { requests: full, limits: { cpu: '1000m', memory: '1024Mi' } }

interface Row {
  readonly name: string
  readonly containers?: readonly ResourceRequirements[]
  readonly init?: readonly ResourceRequirements[]
  readonly ephemeral?: readonly ResourceRequirements[]
  readonly pod?: ResourceRequirements
  readonly said?: string
  readonly expected: string
}

const rows: readonly Row[] = [
  { name: 'nothing set', containers: [{}], expected: 'BestEffort' },
  { name: 'only zeros set', containers: [{ requests: { cpu: '0' }, limits: { memory: '0' } }], expected: 'BestEffort' },
  { name: 'only other resources set', containers: [{ limits: { 'hugepages-2Mi': '4Mi' } }], expected: 'BestEffort' },
  { name: 'requests equal limits in other words', containers: [guaranteed, guaranteed], expected: 'Guaranteed' },
  { name: 'one container says nothing', containers: [guaranteed, {}], expected: 'Burstable' },
  { name: 'an init container says nothing', containers: [guaranteed], init: [{}], expected: 'Burstable' },
  { name: 'only an init container asks', containers: [{}], init: [{ requests: full }], expected: 'Burstable' },
  { name: 'ephemeral containers do not count', containers: [guaranteed], ephemeral: [{}], expected: 'Guaranteed' },
  { name: 'requests alone', containers: [{ requests: full }], expected: 'Burstable' },
  {
    name: 'request below limit',
    containers: [{ requests: { ...full, cpu: '1m' }, limits: full }],
    expected: 'Burstable',
  },
  {
    name: 'limits for memory alone',
    containers: [{ requests: full, limits: { memory: '1Gi' } }],
    expected: 'Burstable',
  },
  { name: 'the pod as a whole counts alone', containers: [{}], pod: guaranteed, expected: 'Guaranteed' },
  {
    name: 'the pod as a whole asks for less',
    containers: [guaranteed],
    pod: { requests: full },
    expected: 'Burstable',
  },
  { name: 'the pod as a whole asks for nothing', containers: [guaranteed], pod: {}, expected: 'BestEffort' },
  { name: 'the API server said it', containers: [guaranteed], said: 'Burstable', expected: 'Burstable' },
]

describe('computeQosClass()', () => {
  for (const { name, containers = [], init = [], ephemeral = [], pod, said, expected } of rows) {
    test(name, () => {
      const spec = {
        containers: containers.map((resources) => createContainer({ resources })),
        initContainers: init.map((resources) => createContainer({ resources })),
        ephemeralContainers: ephemeral.map((resources) => createContainer({ resources })),
        resources: pod,
      }
      assert.equal(computeQosClass(createPod({ spec, status: { qosClass: said } })), expected)
    })
  }
})

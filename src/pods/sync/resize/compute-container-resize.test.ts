import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer } from '../../../../test/builders/create-pod.ts'
import type { Container, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import { computeContainerResize, effectiveResources, isPodResized } from './compute-container-resize.ts'
import type { ContainerResize } from './compute-container-resize.ts'

const base = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } }
const none: ContainerResize = { restart: false, cpu: undefined, memory: undefined }
const has = (resources: ResourceRequirements | undefined, pod?: ResourceRequirements): PodAllocation => ({
  containers: new Map(resources === undefined ? [] : [['main', resources]]),
  pod,
})
const restarts = (resourceName: string): Partial<Container> => ({
  resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }],
})

interface Row {
  readonly wants: ResourceRequirements
  readonly parts?: Partial<Container>
  readonly ofPod?: ResourceRequirements
  readonly has: PodAllocation | undefined
  readonly expected: ContainerResize | undefined
}

const rows: Readonly<Record<string, Row>> = {
  'nothing is known': { wants: base, has: undefined, expected: undefined },
  'it was never made': { wants: base, has: has(undefined), expected: undefined },
  'it has what it was granted': { wants: base, has: has(base), expected: undefined },
  'it has the same in other words': {
    wants: base,
    has: has({ ...base, limits: { cpu: '0.2', memory: '131072Ki' } }),
    expected: undefined,
  },
  'it was granted more CPU': {
    wants: { ...base, limits: { ...base.limits, cpu: '1' } },
    has: has(base),
    expected: { ...none, cpu: 'grows' },
  },
  'it was granted less memory': {
    wants: { ...base, limits: { ...base.limits, memory: '64Mi' } },
    has: has(base),
    expected: { ...none, memory: 'shrinks' },
  },
  'only its request grows': {
    wants: { ...base, requests: { ...base.requests, memory: '100Mi' } },
    has: has(base),
    expected: { ...none, memory: 'grows' },
  },
  'it gets its first limit': {
    wants: { requests: base.requests, limits: { memory: '128Mi' } },
    has: has({ requests: base.requests }),
    expected: { ...none, memory: 'shrinks' },
  },
  'what changes wants a new start': {
    wants: { ...base, limits: { ...base.limits, memory: '256Mi' } },
    parts: restarts('memory'),
    has: has(base),
    expected: { ...none, memory: 'grows', restart: true },
  },
  'what stays would want a new start': {
    wants: { ...base, limits: { ...base.limits, memory: '256Mi' } },
    parts: restarts('cpu'),
    has: has(base),
    expected: { ...none, memory: 'grows' },
  },
  'the limit of the pod is its own': {
    wants: {},
    ofPod: { limits: { memory: '64Mi' } },
    has: has({}, { limits: { memory: '128Mi' } }),
    expected: { ...none, memory: 'shrinks' },
  },
  'something else than CPU and memory differs': {
    wants: { limits: { 'hugepages-2Mi': '2Mi' } },
    has: has({}),
    expected: undefined,
  },
}

describe('computeContainerResize() when', () => {
  for (const [name, row] of Object.entries(rows)) {
    test(name, () => {
      const container = createContainer({ name: 'main', resources: row.wants, ...row.parts })
      assert.deepEqual(computeContainerResize(container, row.ofPod, row.has), row.expected)
    })
  }
})

test('effectiveResources() takes limits of the pod where a container has none of its own', () => {
  const ofPod = { limits: { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '2Mi' } }
  assert.deepEqual(effectiveResources({ limits: { cpu: '500m' } }, ofPod), { limits: { cpu: '500m', memory: '1Gi' } })
  assert.deepEqual(effectiveResources(undefined, undefined), {})
})

test('isPodResized() compares what the pod as a whole was granted and has', () => {
  const [small, large] = [{ limits: { cpu: '1' } }, { limits: { cpu: '2' } }]
  assert.equal(isPodResized(large, has(undefined, small)), true)
  assert.equal(isPodResized(small, has(undefined, small)), false)
  assert.equal(isPodResized(small, has(undefined)), false)
})

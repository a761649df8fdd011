import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodStatus, ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { AppliedResources } from '../../model/pod/observed-pod.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import { computeRebuiltAllocation } from './compute-rebuilt-allocation.ts'

const small = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } }
const large = { requests: { cpu: '200m', memory: '128Mi' }, limits: { cpu: '400m', memory: '128Mi' } }
const appliedSmall: AppliedResources = {
  cpuShares: 102n,
  cpuQuota: 20_000n,
  cpuPeriod: 100_000n,
  memoryLimitBytes: 64n * 1024n ** 2n,
}

const reportedOf = (id: string, resources: ResourceRequirements): PodStatus => ({
  containerStatuses: [
    {
      name: 'main',
      containerID: `containerd://${id}`,
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      allocatedResources: resources.requests,
      resources,
    },
  ],
})

interface Row {
  readonly status?: PodStatus
  readonly applied?: AppliedResources
  readonly known?: PodAllocation
  /** What was granted and what was set. */
  readonly expected: readonly [ResourceRequirements, ResourceRequirements]
}

const rows: Readonly<Record<string, Row>> = {
  unknown: { expected: [large, large] },
  'the API has it': { status: reportedOf('main-0', small), expected: [small, small] },
  'the API knows of an instance that is gone': { status: reportedOf('main-9', small), expected: [large, large] },
  'only the runtime knows': {
    applied: appliedSmall,
    expected: [large, { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '200m', memory: '64Mi' } }],
  },
  'the API has what was granted, and the runtime has not got there': {
    status: reportedOf('main-0', large),
    applied: appliedSmall,
    expected: [large, { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '200m', memory: '64Mi' } }],
  },
  'what was last set is still known': {
    known: { containers: new Map([['main', small]]), pod: undefined },
    expected: [small, small],
  },
}

describe('computeRebuiltAllocation() for a container that asks for much by now, when', () => {
  for (const [name, { status, applied, known, expected }] of Object.entries(rows)) {
    test(name, () => {
      const pod = createPod({
        spec: { containers: [createContainer({ resources: large })] },
        ...(status && { status }),
      })
      const observed = createObservedPod({ containers: [createInstance({ name: 'main', state: 'running', applied })] })
      const scope = { initContainers: true, podLevel: true }
      const { allocated, actuated } = computeRebuiltAllocation(pod, observed, { scope, actuated: known })
      assert.deepEqual([allocated.containers.get('main'), actuated.containers.get('main')], expected)
    })
  }
})

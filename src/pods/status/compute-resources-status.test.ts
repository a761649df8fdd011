import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ContainerStatus, ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { AppliedResources } from '../../model/pod/observed-pod.ts'
import { computeResourcesStatus } from './compute-resources-status.ts'

const applied = (parts: Partial<AppliedResources>): AppliedResources => ({
  cpuShares: 0n,
  cpuQuota: 0n,
  cpuPeriod: 100_000n,
  memoryLimitBytes: 0n,
  ...parts,
})
const given = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '0.2', memory: '128Mi' } }
const reported = { allocatedResources: given.requests, resources: given }

interface Row {
  readonly allocated?: ResourceRequirements | undefined
  readonly actuated?: ResourceRequirements
  readonly applied?: AppliedResources
  readonly expected: Pick<ContainerStatus, 'allocatedResources' | 'resources'>
}

const rows: Readonly<Record<string, Row>> = {
  'nothing was asked for': { expected: { resources: {} } },
  'nothing was asked for, and the runtime has the least weight': {
    applied: applied({ cpuShares: 2n }),
    expected: { resources: {} },
  },
  'the runtime reports nothing': { allocated: given, expected: reported },
  'the runtime reports nothing, and something else was last set': {
    allocated: { ...given, limits: { ...given.limits, 'example.com/chip': '1' } },
    actuated: { requests: { cpu: '50m', memory: '32Mi' }, limits: { memory: '32Mi' } },
    expected: {
      allocatedResources: given.requests,
      resources: {
        requests: { cpu: '50m', memory: '32Mi' },
        limits: { memory: '32Mi', 'example.com/chip': '1' },
      },
    },
  },
  'the limit of the whole pod was set for it': {
    allocated: { requests: { cpu: '100m' } },
    actuated: { requests: { cpu: '100m' }, limits: { cpu: '1' } },
    expected: { allocatedResources: { cpu: '100m' }, resources: { requests: { cpu: '100m' } } },
  },
  'the runtime has set what was asked for': {
    allocated: given,
    applied: applied({ cpuShares: 102n, cpuQuota: 20_000n, memoryLimitBytes: 128n * 1024n ** 2n }),
    expected: reported,
  },
  'the runtime has set something else': {
    allocated: given,
    applied: applied({ cpuShares: 512n, cpuQuota: 150_000n, memoryLimitBytes: 256n * 1024n ** 2n }),
    expected: {
      ...reported,
      resources: { requests: { cpu: '500m', memory: '64Mi' }, limits: { cpu: '1500m', memory: '256Mi' } },
    },
  },
  'the runtime has set limits that the spec of this container does not have': {
    allocated: { requests: { 'example.com/chip': '1' } },
    applied: applied({ cpuShares: 2n, cpuQuota: 100_000n, memoryLimitBytes: 1024n }),
    expected: {
      allocatedResources: { 'example.com/chip': '1' },
      resources: { requests: { 'example.com/chip': '1' } },
    },
  },
  'less than the kernel can do': {
    allocated: { requests: { cpu: '1m' }, limits: { cpu: '5m' } },
    applied: applied({ cpuShares: 2n, cpuQuota: 1000n }),
    expected: { allocatedResources: { cpu: '1m' }, resources: { requests: { cpu: '1m' }, limits: { cpu: '5m' } } },
  },
  'no quota because the CPUs are its own': {
    allocated: given,
    applied: applied({ cpuShares: 102n, cpuQuota: -1n }),
    expected: reported,
  },
}

describe('computeResourcesStatus()', () => {
  for (const [name, row] of Object.entries(rows)) {
    test(name, () => assert.deepEqual(computeResourcesStatus(row), row.expected))
  }
})

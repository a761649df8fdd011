import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LinuxContainerResources } from '../../protocols/cri/generated/runtime-v1.ts'
import type { PodSpec, ResourceRequirements } from '../../model/generated/core-v1.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computeContainerResources, usesSwap } from './compute-container-resources.ts'
import type { ContainerResourceSettings, CpusetAssignment, SwapSettings } from './compute-container-resources.ts'

const settings: ContainerResourceSettings = {
  cgroupVersion: 2,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  hugepageSizes: ['2MB', '1GB'],
  memoryCapacityBytes: 1000n,
  swap: { controller: false, behavior: 'NoSwap', capacityBytes: 0n },
  singleProcessOomKill: true,
  memoryQos: undefined,
}
const base: LinuxContainerResources = {
  cpuPeriod: 100_000n,
  cpuQuota: 0n,
  cpuShares: 2n,
  memoryLimitInBytes: 0n,
  oomScoreAdj: 999n,
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [
    { pageSize: '2MB', limit: 0n },
    { pageSize: '1GB', limit: 0n },
  ],
  unified: {},
  memorySwapLimitInBytes: 0n,
}
const noSwap: SwapSettings = { controller: true, behavior: 'NoSwap', capacityBytes: 500n }
const limitedSwap: SwapSettings = { ...noSwap, behavior: 'LimitedSwap' }

interface Row {
  readonly name: string
  readonly resources?: ResourceRequirements
  readonly spec?: Partial<PodSpec>
  readonly settings?: Partial<ContainerResourceSettings>
  readonly cpuset?: CpusetAssignment
  readonly expected: Partial<LinuxContainerResources>
}

const rows: readonly Row[] = [
  { name: 'nothing asked', expected: { oomScoreAdj: 1000n } },
  { name: 'cpu request', resources: { requests: { cpu: '250m' } }, expected: { cpuShares: 256n } },
  { name: 'cpu limit alone', resources: { limits: { cpu: '2' } }, expected: { cpuShares: 2048n, cpuQuota: 200_000n } },
  {
    name: 'cpu request and limit',
    resources: { requests: { cpu: '1' }, limits: { cpu: '1500m' } },
    expected: { cpuShares: 1024n, cpuQuota: 150_000n },
  },
  {
    name: 'a cpu request of zero stays one beside a limit',
    resources: { requests: { cpu: '0' }, limits: { cpu: '2' } },
    expected: { cpuShares: 2n, cpuQuota: 200_000n },
  },
  {
    name: 'a tiny cpu limit',
    resources: { requests: { cpu: '1m' }, limits: { cpu: '1m' } },
    expected: { cpuShares: 2n, cpuQuota: 1000n },
  },
  {
    name: 'no quotas on this node',
    resources: { limits: { cpu: '1' } },
    settings: { cpuCfsQuota: false },
    cpuset: { cpus: '2-3', mems: '0', exclusive: true },
    expected: { cpuShares: 1024n, cpuPeriod: 0n, cpusetCpus: '2-3', cpusetMems: '0' },
  },
  {
    name: 'CPUs of its own',
    resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
    cpuset: { cpus: '2', mems: '', exclusive: true },
    expected: { cpuShares: 1024n, cpuQuota: -1n, cpusetCpus: '2' },
  },
  {
    name: 'memory limit',
    resources: { requests: { memory: '100' }, limits: { memory: '200' } },
    expected: { memoryLimitInBytes: 200n, oomScoreAdj: 900n },
  },
  {
    name: 'limits of the pod as a whole stand in',
    resources: {},
    spec: { resources: { limits: { cpu: '1', memory: '300' } } },
    expected: { cpuShares: 1024n, cpuQuota: 100_000n, memoryLimitInBytes: 300n },
  },
  {
    name: 'its own limits come before those of the pod',
    resources: { limits: { cpu: '500m', memory: '100', 'hugepages-1Gi': '1Gi' } },
    spec: { resources: { limits: { cpu: '1', memory: '300', 'hugepages-1Gi': '2Gi', 'hugepages-2Mi': '4Mi' } } },
    expected: {
      cpuShares: 512n,
      cpuQuota: 50_000n,
      memoryLimitInBytes: 100n,
      hugepageLimits: [
        { pageSize: '2MB', limit: 4_194_304n },
        { pageSize: '1GB', limit: 1_073_741_824n },
      ],
    },
  },
  {
    name: 'the whole container is killed together, version 2',
    settings: { singleProcessOomKill: false },
    expected: { oomScoreAdj: 1000n, unified: { 'memory.oom.group': '1' } },
  },
  {
    name: 'version 1 knows no unified values',
    settings: { cgroupVersion: 1, singleProcessOomKill: false },
    expected: { oomScoreAdj: 1000n },
  },
  {
    name: 'NoSwap, version 2',
    resources: { requests: { memory: '100' } },
    settings: { swap: noSwap },
    expected: { oomScoreAdj: 900n, unified: { 'memory.swap.max': '0' } },
  },
  {
    name: 'NoSwap, version 1',
    resources: { limits: { memory: '100' } },
    settings: { swap: noSwap, cgroupVersion: 1 },
    expected: { memoryLimitInBytes: 100n, memorySwapLimitInBytes: 100n },
  },
  {
    name: 'version 1 that cannot limit swap',
    resources: { limits: { memory: '100' } },
    settings: { cgroupVersion: 1 },
    expected: { memoryLimitInBytes: 100n },
  },
  {
    name: 'LimitedSwap: as much of the swap as of the memory',
    resources: { requests: { memory: '101' } },
    settings: { swap: limitedSwap },
    expected: { oomScoreAdj: 899n, unified: { 'memory.swap.max': '50' } },
  },
  {
    name: 'LimitedSwap: none without a memory request',
    resources: { requests: { cpu: '1' } },
    settings: { swap: limitedSwap },
    expected: { cpuShares: 1024n, unified: { 'memory.swap.max': '0' } },
  },
  {
    name: 'LimitedSwap: none where request equals limit',
    resources: { requests: { memory: '100' }, limits: { memory: '100' } },
    settings: { swap: limitedSwap },
    expected: { oomScoreAdj: 900n, memoryLimitInBytes: 100n, unified: { 'memory.swap.max': '0' } },
  },
  {
    name: 'LimitedSwap: none for a critical pod',
    resources: { requests: { memory: '100' } },
    spec: { priority: 2_000_000_000 },
    settings: { swap: limitedSwap },
    expected: { oomScoreAdj: 900n, unified: { 'memory.swap.max': '0' } },
  },
  {
    name: 'LimitedSwap: none for BestEffort',
    settings: { swap: limitedSwap },
    expected: { oomScoreAdj: 1000n, unified: { 'memory.swap.max': '0' } },
  },
  {
    name: 'LimitedSwap: none for Guaranteed',
    resources: { requests: { cpu: '1', memory: '100' }, limits: { cpu: '1', memory: '100' } },
    settings: { swap: limitedSwap },
    expected: {
      cpuShares: 1024n,
      cpuQuota: 100_000n,
      memoryLimitInBytes: 100n,
      oomScoreAdj: -997n,
      unified: { 'memory.swap.max': '0' },
    },
  },
]

describe('computeContainerResources()', () => {
  for (const { name, resources, spec, settings: changed, cpuset, expected } of rows) {
    test(name, () => {
      const container = createContainer({ resources })
      const pod = createPod({ spec: { containers: [container], ...spec } })
      const podContainer = { kind: 'regular' as const, container }
      const actual = computeContainerResources({ pod, podContainer, cpuset, settings: { ...settings, ...changed } })
      assert.deepEqual(actual, { ...base, ...expected })
    })
  }
})

test('usesSwap() is true for containers that share in the swap of the node', () => {
  const swapping = { ...settings, swap: limitedSwap }
  const pod = (resources: ResourceRequirements) => createPod({ spec: { containers: [createContainer({ resources })] } })
  const [some, all] = [{ requests: { memory: '100' } }, { requests: { memory: '100' }, limits: { memory: '100' } }]
  assert.equal(usesSwap(pod(some), { resources: some }, swapping), true)
  assert.equal(usesSwap(pod(all), { resources: all }, swapping), false)
  assert.equal(usesSwap(pod(some), { resources: some }, { ...swapping, swap: noSwap }), false)
  assert.equal(usesSwap(pod(some), { resources: some }, { ...swapping, cgroupVersion: 1 }), false)
})

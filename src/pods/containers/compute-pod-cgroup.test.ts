import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import type { PodCgroup } from '../../model/resources/cgroup-values.ts'
import { computePodCgroup } from './compute-pod-cgroup.ts'
import type { PodCgroupSettings } from './compute-pod-cgroup.ts'

const settings: PodCgroupSettings = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  podPidsLimit: -1n,
  hugepageSizes: [],
  exclusiveCpus: false,
  protectsMemory: false,
}
const nothing: PodCgroup = {
  cpuShares: 2n,
  cpuQuota: undefined,
  cpuPeriod: undefined,
  memoryLimitBytes: undefined,
  pidsLimit: undefined,
  hugepageLimits: new Map(),
}
const amounts = { cpu: '500m', memory: '1k' }
const full = createContainer({ resources: { requests: amounts, limits: amounts } })
const requesting = createContainer({ resources: { requests: amounts } })
const limitedCpu = { cpuQuota: 50_000n, cpuPeriod: 100_000n }

const rows: readonly {
  readonly name: string
  readonly spec?: Partial<PodSpec>
  readonly settings?: Partial<PodCgroupSettings>
  readonly expected: Partial<PodCgroup>
}[] = [
  { name: 'BestEffort', expected: {} },
  {
    name: 'Guaranteed',
    spec: { containers: [full] },
    expected: { cpuShares: 512n, ...limitedCpu, memoryLimitBytes: 1000n },
  },
  { name: 'Burstable without limits', spec: { containers: [requesting] }, expected: { cpuShares: 512n } },
  {
    name: 'Burstable, one container without limits',
    spec: { containers: [full, requesting] },
    expected: { cpuShares: 1024n },
  },
  {
    name: 'Burstable, an init container without limits',
    spec: { containers: [full], initContainers: [createContainer()] },
    expected: { cpuShares: 512n },
  },
  {
    name: 'Burstable, memory limited everywhere, cpu not',
    spec: { containers: [createContainer({ resources: { requests: amounts, limits: { memory: '2k' } } })] },
    expected: { cpuShares: 512n, memoryLimitBytes: 2000n },
  },
  {
    name: 'limits of the pod as a whole are enough',
    spec: { containers: [createContainer()], resources: { requests: { cpu: '1' }, limits: amounts } },
    expected: { cpuShares: 1024n, ...limitedCpu, memoryLimitBytes: 1000n },
  },
  {
    name: 'overhead counts',
    spec: { containers: [full], overhead: { cpu: '500m', memory: '24' } },
    expected: { cpuShares: 1024n, cpuQuota: 100_000n, cpuPeriod: 100_000n, memoryLimitBytes: 1024n },
  },
  {
    name: 'no quotas on this node',
    spec: { containers: [full] },
    settings: { cpuCfsQuota: false },
    expected: { cpuShares: 512n, cpuQuota: -1n, cpuPeriod: 100_000n, memoryLimitBytes: 1000n },
  },
  {
    name: 'memory that is never taken back',
    spec: { containers: [full] },
    settings: { protectsMemory: true },
    expected: { cpuShares: 512n, ...limitedCpu, memoryLimitBytes: 1000n, memoryMinBytes: 1000n },
  },
  {
    name: 'memory that is taken back last',
    spec: { containers: [requesting] },
    settings: { protectsMemory: true },
    expected: { cpuShares: 512n, memoryLowBytes: 1000n },
  },
  {
    name: 'no memory to protect',
    spec: { containers: [createContainer({ resources: { requests: { cpu: '500m' } } })] },
    settings: { protectsMemory: true },
    expected: { cpuShares: 512n },
  },
  {
    name: 'CPUs of its own',
    spec: { containers: [full] },
    settings: { exclusiveCpus: true },
    expected: { cpuShares: 512n, cpuQuota: -1n, cpuPeriod: 100_000n, memoryLimitBytes: 1000n },
  },
  { name: 'a limit of processes', settings: { podPidsLimit: 100n }, expected: { pidsLimit: 100n } },
  { name: 'no limit of processes', settings: { podPidsLimit: 0n }, expected: {} },
  {
    name: 'huge pages by what is asked, zero for the rest',
    spec: { containers: [createContainer({ resources: { requests: { 'hugepages-2Mi': '4Mi' } } })] },
    settings: { hugepageSizes: ['1GB', '2MB'] },
    expected: {
      hugepageLimits: new Map([
        ['1GB', 0n],
        ['2MB', 4_194_304n],
      ]),
    },
  },
]

describe('computePodCgroup()', () => {
  for (const { name, spec = {}, settings: changed, expected } of rows) {
    test(name, () => {
      assert.deepEqual(computePodCgroup(createPod({ spec }), { ...settings, ...changed }), { ...nothing, ...expected })
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'
import { computeCgroupWrites } from './compute-cgroup-writes.ts'

const rows: readonly {
  readonly name: string
  readonly values: CgroupValues
  readonly v1: readonly string[]
  readonly v2: readonly string[]
}[] = [
  { name: 'nothing', values: {}, v1: [], v2: [] },
  {
    name: 'what is undefined is left alone',
    values: {
      cpuShares: undefined,
      cpuQuota: undefined,
      memoryLimitBytes: undefined,
      pidsLimit: undefined,
      cpus: undefined,
    },
    v1: [],
    v2: [],
  },
  { name: 'shares', values: { cpuShares: 2048n }, v1: ['cpu cpu.shares 2048'], v2: ['cpu cpu.weight 79'] },
  {
    name: 'a quota after its period',
    values: { cpuQuota: 200_000n, cpuPeriod: 100_000n },
    v1: ['cpu cpu.cfs_period_us 100000', 'cpu cpu.cfs_quota_us 200000'],
    v2: ['cpu cpu.max 200000 100000'],
  },
  { name: 'a quota alone', values: { cpuQuota: 5000n }, v1: ['cpu cpu.cfs_quota_us 5000'], v2: ['cpu cpu.max 5000'] },
  {
    name: 'no limit of the CPUs',
    values: { cpuQuota: -1n, cpuPeriod: 100_000n },
    v1: ['cpu cpu.cfs_period_us 100000', 'cpu cpu.cfs_quota_us -1'],
    v2: ['cpu cpu.max max 100000'],
  },
  {
    name: 'a quota of 0 means that there is none to write',
    values: { cpuQuota: 0n, cpuPeriod: 100_000n },
    v1: ['cpu cpu.cfs_period_us 100000'],
    v2: [],
  },
  {
    name: 'memory',
    values: { memoryLimitBytes: 1_073_741_824n },
    v1: ['memory memory.limit_in_bytes 1073741824'],
    v2: ['memory memory.max 1073741824'],
  },
  {
    name: 'no limit of memory',
    values: { memoryLimitBytes: -1n },
    v1: ['memory memory.limit_in_bytes -1'],
    v2: ['memory memory.max max'],
  },
  {
    name: 'memory that is protected, before its limit',
    values: { memoryMinBytes: 0n, memoryLowBytes: 5n, memoryLimitBytes: 9n },
    v1: ['memory memory.limit_in_bytes 9'],
    v2: ['memory memory.min 0', 'memory memory.low 5', 'memory memory.max 9'],
  },
  { name: 'processes', values: { pidsLimit: 100n }, v1: ['pids pids.max 100'], v2: ['pids pids.max 100'] },
  { name: 'no limit of processes', values: { pidsLimit: -1n }, v1: ['pids pids.max max'], v2: ['pids pids.max max'] },
  {
    name: 'huge pages, those in use and those promised',
    values: { hugepageLimits: new Map([['2MB', 0n]]) },
    v1: ['hugetlb hugetlb.2MB.limit_in_bytes 0', 'hugetlb hugetlb.2MB.rsvd.limit_in_bytes 0 if there is one'],
    v2: ['hugetlb hugetlb.2MB.max 0', 'hugetlb hugetlb.2MB.rsvd.max 0 if there is one'],
  },
  { name: 'CPUs', values: { cpus: '0-3' }, v1: ['cpuset cpuset.cpus 0-3'], v2: ['cpuset cpuset.cpus 0-3'] },
]

describe('computeCgroupWrites()', () => {
  for (const { name, values, v1, v2 } of rows) {
    test(name, () => {
      const write = (version: 1 | 2) =>
        computeCgroupWrites(version, values).map(
          ({ controller, file, text, optional = false }) =>
            `${controller} ${file} ${text}${optional ? ' if there is one' : ''}`,
        )
      assert.deepEqual([write(1), write(2)], [v1, v2])
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'
import { computeSliceProperties } from './compute-slice-properties.ts'

const UNLIMITED = 2n ** 64n - 1n
type Short = readonly (readonly [name: string, value: bigint | readonly number[]])[]

const rows: readonly {
  readonly name: string
  readonly values: CgroupValues
  readonly v1: Short
  readonly v2: Short
}[] = [
  { name: 'nothing', values: {}, v1: [], v2: [] },
  { name: 'shares', values: { cpuShares: 1024n }, v1: [['CPUShares', 1024n]], v2: [['CPUWeight', 39n]] },
  {
    name: 'a quota, in hundredths of a CPU',
    values: { cpuQuota: 12_345n, cpuPeriod: 100_000n },
    v1: [['CPUQuotaPerSecUSec', 130_000n]],
    v2: [['CPUQuotaPerSecUSec', 130_000n]],
  },
  {
    name: 'a quota with a period of its own',
    values: { cpuQuota: 5000n, cpuPeriod: 10_000n },
    v1: [
      ['CPUQuotaPeriodUSec', 10_000n],
      ['CPUQuotaPerSecUSec', 500_000n],
    ],
    v2: [
      ['CPUQuotaPeriodUSec', 10_000n],
      ['CPUQuotaPerSecUSec', 500_000n],
    ],
  },
  {
    name: 'no limits',
    values: { cpuQuota: -1n, memoryLimitBytes: -1n, pidsLimit: -1n },
    v1: [
      ['CPUQuotaPerSecUSec', UNLIMITED],
      ['MemoryLimit', UNLIMITED],
      ['TasksMax', UNLIMITED],
    ],
    v2: [
      ['CPUQuotaPerSecUSec', UNLIMITED],
      ['MemoryMax', UNLIMITED],
      ['TasksMax', UNLIMITED],
    ],
  },
  {
    name: 'what only version 2 has',
    values: { memoryMinBytes: 0n, memoryLowBytes: 5n, cpus: '0-2,9' },
    v1: [],
    v2: [
      ['MemoryMin', 0n],
      ['MemoryLow', 5n],
      ['AllowedCPUs', [7, 2]],
    ],
  },
  {
    name: 'huge pages, which systemd does not know',
    values: { hugepageLimits: new Map([['2MB', 1n]]) },
    v1: [],
    v2: [],
  },
]

describe('computeSliceProperties()', () => {
  for (const { name, values, v1, v2 } of rows) {
    test(name, () => {
      const short = (version: 1 | 2) => computeSliceProperties(version, values).map(([key, { value }]) => [key, value])
      assert.deepEqual([short(1), short(2)], [v1, v2])
    })
  }
})

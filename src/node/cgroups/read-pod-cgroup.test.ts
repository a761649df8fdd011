import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readPodCgroup } from './read-pod-cgroup.ts'

const readerOf = (version: 1 | 2, files: Readonly<Record<string, string>>) => ({
  version,
  read: (_: string, cgroup: string, file: string) => (cgroup === '/pod' ? files[file] : undefined),
  exists: () => true,
  children: () => [],
})

describe('readPodCgroup()', () => {
  const rows = [
    [
      'version 1',
      1,
      {
        'cpu.shares': '1024\n',
        'cpu.cfs_quota_us': '50000\n',
        'cpu.cfs_period_us': '100000\n',
        'memory.limit_in_bytes': '4096\n',
        'memory.usage_in_bytes': '17\n',
      },
      [1024n, 50_000n, 100_000n, 4096n, 17n],
    ],
    [
      'version 1 without limits',
      1,
      {
        'cpu.shares': '2\n',
        'cpu.cfs_quota_us': '-1\n',
        'cpu.cfs_period_us': '100000\n',
        'memory.limit_in_bytes': '9223372036854771712\n',
      },
      [2n, -1n, 100_000n, undefined, undefined],
    ],
    [
      'version 2',
      2,
      { 'cpu.weight': '39\n', 'cpu.max': '50000 100000\n', 'memory.max': '4096\n', 'memory.current': '17\n' },
      [998n, 50_000n, 100_000n, 4096n, 17n],
    ],
    [
      'version 2 without limits',
      2,
      { 'cpu.weight': '1\n', 'cpu.max': 'max 100000\n', 'memory.max': 'max\n', 'memory.current': '0\n' },
      [2n, -1n, 100_000n, undefined, 0n],
    ],
    ['no such files', 2, {}, [undefined, undefined, undefined, undefined, undefined]],
  ] as const
  for (const [name, version, files, expected] of rows) {
    test(name, () => {
      const state = readPodCgroup(readerOf(version, files), '/pod')
      const { cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes, memoryUsageBytes } = state
      assert.deepEqual([cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes, memoryUsageBytes], expected)
    })
  }
})

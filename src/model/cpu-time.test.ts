import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuQuota, cpuShares } from './cpu-time.ts'

test('cpuShares() stays within what the kernel takes', () => {
  const rows = [
    [0n, 2n],
    [1n, 2n],
    [2n, 2n],
    [3n, 3n],
    [100n, 102n],
    [1000n, 1024n],
    [256_000n, 262_144n],
    [1_000_000n, 262_144n],
  ] as const
  for (const [milli, shares] of rows) assert.equal(cpuShares(milli), shares)
})

test('cpuQuota() is 0 without a limit and never below a millisecond', () => {
  const rows = [
    [0n, 100_000n, 0n],
    [1n, 100_000n, 1000n],
    [10n, 100_000n, 1000n],
    [11n, 100_000n, 1100n],
    [1500n, 100_000n, 150_000n],
    [333n, 5000n, 1665n],
  ] as const
  for (const [milli, period, quota] of rows) assert.equal(cpuQuota(milli, period), quota)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuQuota, cpuShares, sharesToWeight, weightToShares } from './cpu-shares-and-quota.ts'

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

test('sharesToWeight() and back, on the scale of the kubelet', () => {
  const rows = [
    [0n, 1n, 2n],
    [2n, 1n, 2n],
    [102n, 4n, 80n],
    [1024n, 39n, 998n],
    [2048n, 79n, 2046n],
    [262_144n, 10_000n, 262_144n],
  ] as const
  for (const [shares, weight, back] of rows) {
    assert.deepEqual([sharesToWeight(shares), weightToShares(weight)], [weight, back])
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeConnectionLimits } from './compute-connection-limits.ts'

test('computeConnectionLimits() leaves half of the descriptors to the agent, whatever clients do', () => {
  const rows = [
    [1_000_000, 4000, 250],
    [1024, 128, 32],
    [256, 32, 8],
    [16, 4, 4],
  ] as const
  for (const [openFiles, all, replaceable] of rows)
    assert.deepEqual(computeConnectionLimits(openFiles), { all, replaceable }, `${openFiles} files`)
  assert.deepEqual(computeConnectionLimits(Number.POSITIVE_INFINITY), { all: 4000, replaceable: 250 })
})

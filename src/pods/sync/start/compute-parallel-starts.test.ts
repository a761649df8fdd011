import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeParallelStarts } from './compute-parallel-starts.ts'

test('computeParallelStarts() starts one pod for each CPU, and two on the smallest machine', () => {
  assert.deepEqual(computeParallelStarts(1), { places: 2, adapt: { least: 2, most: 4 } })
  assert.deepEqual(computeParallelStarts(8), { places: 8, adapt: { least: 2, most: 32 } })
})

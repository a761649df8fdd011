import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration } from './format-duration.ts'

test('formatDuration() prints as Go does', () => {
  const rows: [number, string][] = [
    [0, '0s'],
    [0.9, '0s'],
    [85.7, '85ms'],
    [1000, '1s'],
    [1234, '1.234s'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [62_250, '1m2.25s'],
    [3_603_000, '1h0m3s'],
    [-5, '0s'],
  ]
  assert.deepEqual(
    rows.map(([ms]) => [ms, formatDuration(ms)]),
    rows,
  )
})

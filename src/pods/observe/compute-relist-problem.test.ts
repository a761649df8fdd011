import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeRelistProblem } from './compute-relist-problem.ts'

test('computeRelistProblem() gives three minutes', () => {
  assert.deepEqual([0, 179_999, 185_000, 600_500].map(computeRelistProblem), [
    [],
    [],
    ['PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s'],
    ['PLEG is not healthy: pleg was last seen active 10m0s ago; threshold is 3m0s'],
  ])
})

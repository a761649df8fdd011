import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeNumaSets } from './compute-numa-sets.ts'

describe('computeNumaSets()', () => {
  test('has all sets but the empty one, small ones first', () => {
    const sets = computeNumaSets([4, 0, 2, 1]).map((nodes) => [...nodes].join(','))
    assert.equal(sets.join(' '), '0 1 2 4 0,1 0,2 1,2 0,4 1,4 2,4 0,1,2 0,1,4 0,2,4 1,2,4 0,1,2,4')
  })

  test('has 255 sets of eight nodes', () => {
    assert.equal(computeNumaSets([0, 1, 2, 3, 4, 5, 6, 7]).length, 255)
  })
})

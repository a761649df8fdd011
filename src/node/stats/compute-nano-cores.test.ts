import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeNanoCores } from './compute-nano-cores.ts'

const before = { at: 1000, usageNanos: 5e9, nanoCores: 7 }

describe('computeNanoCores()', () => {
  test('divides what was used by the time that passed', () => {
    // Half a second of cpu in ten seconds.
    const now = { at: 11_000, usageNanos: 5.5e9 }
    assert.deepEqual(computeNanoCores(before, now), { ...now, nanoCores: 50_000_000 })
  })

  test('knows nothing from a single reading, nor from another one of the same name', () => {
    const now = { at: 11_000, usageNanos: 1 }
    assert.deepEqual(computeNanoCores(undefined, now), { ...now, nanoCores: undefined })
    assert.deepEqual(computeNanoCores(before, now), { ...now, nanoCores: undefined })
  })

  test('keeps the last rate while little time has passed', () => {
    assert.deepEqual(computeNanoCores(before, { at: 1999, usageNanos: 9e9 }), before)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  computeMedian,
  computeMedianInterval,
  computePercentile,
  computeRatioInterval,
  createChance,
} from './compute-statistics.ts'

const around = (middle: number, noise: number, count: number, seed = 1) => {
  const chance = createChance(seed)
  return Array.from({ length: count }, () => middle * (1 + noise * (chance() - 0.5)))
}

describe('computeMedianInterval()', () => {
  test('is not sure with less than six values, whatever they are', () => {
    assert.deepEqual(computeMedianInterval([1, 1, 1, 1, 1]), { median: 1, low: 1, high: 1, spread: Infinity })
    assert.equal(computeMedianInterval([]), undefined)
  })

  test('gets narrower with more values', () => {
    const spreads = [10, 40, 640].map((count) => computeMedianInterval(around(10, 0.5, count))?.spread ?? 0)
    assert.deepEqual(
      spreads.toSorted((a, b) => b - a),
      spreads,
    )
    assert.ok((spreads[2] ?? 1) < 0.05)
  })

  test('one outlier changes nothing', () => {
    const values = around(10, 0.01, 20)
    const { spread = 1 } = computeMedianInterval([...values, 1000]) ?? {}
    assert.ok(spread < 0.01, String(spread))
  })

  test('holds the true median in about 95 of 100 cases', () => {
    const held = Array.from({ length: 400 }, (_, seed) => computeMedianInterval(around(10, 1, 25, seed + 1))).filter(
      (interval) => interval !== undefined && interval.low <= 10 && interval.high >= 10,
    ).length
    assert.ok(held >= 370, `${held} of 400`)
  })

  test('holds its own median, for any values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 }),
        (values) => {
          const { median, low, high } = computeMedianInterval(values) ?? { median: 0, low: 1, high: 0 }
          assert.ok(low <= median && median <= high)
          assert.equal(median, computeMedian(values))
        },
      ),
    )
  })
})

describe('computeRatioInterval()', () => {
  test('holds the true ratio, and is the same each time', () => {
    const ratio = () => computeRatioInterval(around(5, 0.2, 20), around(10, 0.2, 20, 7), createChance(3))
    const { median = 0, low = 1, high = 0, spread = 1 } = ratio() ?? {}
    assert.ok(low <= 0.5 && high >= 0.5 && median > 0.45 && median < 0.55)
    assert.ok(spread < 0.06)
    assert.deepEqual(ratio(), ratio())
  })

  test('there is none without values of both, or with an other of 0', () => {
    assert.equal(computeRatioInterval([1], [], createChance(1)), undefined)
    assert.equal(computeRatioInterval([1], [0], createChance(1)), undefined)
  })

  test('is not sure with little', () => {
    assert.equal(computeRatioInterval([1, 2], [2, 4], createChance(1))?.spread, Infinity)
  })
})

describe('computePercentile()', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  for (const [values, percent, expected] of [
    [[], 99, Number.NaN],
    [[7], 99, 7],
    [hundred, 99, 99],
    [hundred, 50, 50],
    [hundred, 100, 100],
  ] as const) {
    test(`${percent} of ${values.length} values`, () => assert.equal(computePercentile(values, percent), expected))
  }
})

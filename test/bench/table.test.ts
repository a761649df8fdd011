import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeMedian } from './compute-statistics.ts'
import { mergeSamples } from './rows.ts'
import { computeResults, formatTable } from './table.ts'

describe('computeMedian()', () => {
  for (const [values, expected] of [
    [[], undefined],
    [[3], 3],
    [[1, 10], 5.5],
    [[10, 9, 100], 10],
  ] as const) {
    test(`of [${values.join(', ')}] is ${expected}`, () => assert.equal(computeMedian(values), expected))
  }
})

test('mergeSamples() keeps every value', () => {
  assert.deepEqual(mergeSamples([{ a: [1] }, { a: [2, 3], b: [4] }, {}]), { a: [1, 2, 3], b: [4] })
})

test('computeResults() compares with the aim and leaves out what was not measured', () => {
  const results = computeResults([
    { label: 'ours', samples: { start: [0.2, 0.3, 0.1], 'start-floor': [0.15], startup: [0.5] } },
    { label: 'other', samples: { start: [0.5], startup: [0.4], heap: [] } },
  ])
  assert.deepEqual(
    results.map(({ name, medians, ratio, least, reached }) => ({
      name,
      medians,
      ratio: ratio?.median,
      least,
      reached,
    })),
    [
      { name: 'start', medians: [0.2, 0.5], ratio: 0.4, least: 0.15, reached: true },
      { name: 'start-floor', medians: [0.15, undefined], ratio: undefined, least: undefined, reached: undefined },
      { name: 'startup', medians: [0.5, 0.4], ratio: 1.25, least: undefined, reached: false },
    ],
  )
  assert.deepEqual(formatTable(['ours', 'other'], results).split('\n'), [
    'measure (median)                                                   ours    other    floor   ratio         95 %      aim',
    "manifest written → workload's first instruction                 0.200 s  0.500 s  0.150 s  0.40 ×  0.20–0.60 ?  ≤ 0.5 ×      ok",
    '… the same calls to the runtime back to back, without an agent  0.150 s        –                –',
    'exec → healthy                                                  0.500 s  0.400 s           1.25 ×  1.25–1.25 ?  ≤ 0.9 ×  MISSED',
  ])
})

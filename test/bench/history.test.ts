import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareRuns, formatComparison, parseHistory, toHistoryEntry } from './history.ts'
import type { HistoryEntry } from './history.ts'
import { computeResults, listUncertain } from './table.ts'

const at = (median: number, half = 0.01) => ({
  median,
  low: median * (1 - half),
  high: median * (1 + half),
  spread: half,
})
const run = (rows: HistoryEntry['rows']): HistoryEntry => ({ time: '2026-01-01', version: 'abc', machine: 'm', rows })

describe('compareRuns()', () => {
  for (const [what, was, is, verdict] of [
    ['a fifth slower', at(1), at(1.2), 'worse'],
    ['a fifth faster', at(1), at(0.8), 'better'],
    ['a twentieth slower', at(1), at(1.05), 'same'],
    ['slower, but it may be chance', at(1, 0.2), at(1.2, 0.2), 'same'],
  ] as const) {
    test(`${what}: ${verdict}`, () => {
      const [row] = compareRuns(run({ start: { own: was, ratio: null } }), run({ start: { own: is, ratio: null } }))
      assert.equal(row?.verdict, verdict)
    })
  }

  test('compares ratios where both runs have one: machines differ', () => {
    const before = run({ start: { own: at(1), ratio: at(0.5) } })
    const now = run({ start: { own: at(2), ratio: at(0.5) } })
    assert.deepEqual(
      compareRuns(before, now).map(({ now: is, verdict }) => [is, verdict]),
      [['0.50 ×', 'same']],
    )
  })

  test('more requests a second are better', () => {
    const rows = (value: number) => run({ 'api-writes': { own: at(value), ratio: null } })
    assert.deepEqual(
      compareRuns(rows(100), rows(200)).map(({ verdict }) => verdict),
      ['better'],
    )
  })

  test('leaves out what only one of them has', () => {
    assert.deepEqual(compareRuns(run({}), run({ start: { own: at(1), ratio: null } })), [])
  })
})

test('a run is kept and read again', () => {
  const samples = { start: [1, 1.01, 0.99, 1, 1.02, 0.98, 1] }
  const results = computeResults([
    { label: 'ours', samples },
    { label: 'other', samples: { start: samples.start.map((value) => value * 2) } },
  ])
  const entry = toHistoryEntry(results, { time: '2026-01-01', version: 'abc', machine: 'm' })
  const read = parseHistory(`{"rows":{}}\n${JSON.stringify(entry)}\n`)
  assert.equal(read.rows['start']?.ratio?.median, 0.5)
  assert.match(
    formatComparison(read, compareRuns(read, entry)),
    /since 2026-01-01 \(abc, m\).*\n.*0\.50 ×\s+0\.50 ×\s+0 %$/,
  )
  assert.throws(() => parseHistory('nonsense'), /expected a history file/)
})

test('listUncertain() names what has to be measured again', () => {
  const steady = Array.from({ length: 12 }, (_, index) => 1 + index / 1000)
  const noisy = Array.from({ length: 12 }, (_, index) => 1 + (index % 4))
  const results = computeResults([
    { label: 'ours', samples: { start: steady, restart: noisy, 'start-floor': noisy } },
    { label: 'other', samples: { start: steady, restart: steady } },
  ])
  assert.deepEqual(listUncertain(results), ['restart'])
})

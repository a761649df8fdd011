import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computePlaces, firstPlaces } from './compute-places.ts'
import type { Places } from './compute-places.ts'

const limits = { least: 2, most: 8 }

describe('computePlaces()', () => {
  const rows: readonly [
    what: string,
    from: Partial<Places>,
    rate: number,
    to: readonly [count: number, step: number],
  ][] = [
    ['tries one more first', { count: 2 }, 10, [3, 1]],
    ['goes on while that brings half of what it could', { count: 3, step: 1, before: 10 }, 12.6, [4, 1]],
    ['goes back when it brings less', { count: 3, step: 1, before: 10 }, 12.4, [2, -1]],
    ['goes back when it harms', { count: 5, step: 1, before: 10 }, 8, [4, -1]],
    ['goes on down while fewer do as much', { count: 4, step: -1, before: 10 }, 9.5, [3, -1]],
    ['takes the place back that was needed, and rests', { count: 3, step: -1, before: 10 }, 8, [4, 0]],
    ['rests at the least', { count: 2, step: -1, before: 10 }, 10, [2, 0]],
    ['rests at the most', { count: 8, step: 1, before: 10 }, 12, [8, 0]],
    ['tries nothing while it rests', { count: 4, resting: 1 }, 10, [4, 0]],
  ]
  for (const [what, from, rate, [count, step]] of rows) {
    test(what, () => {
      const next = computePlaces({ count: 2, step: 0, before: undefined, resting: 0, ...from }, rate, limits)
      assert.deepEqual([next.count, next.step], [count, step])
    })
  }

  test('comes near the best rate of any machine, with noise, and stays within its limits', () => {
    const machine = fc.record({
      cores: fc.integer({ min: 1, max: 12 }),
      // What a start waits for without needing a core.
      waits: fc.double({ min: 0, max: 3, noNaN: true }),
      // What each one beyond the cores costs all others.
      harm: fc.double({ min: 0, max: 0.1, noNaN: true }),
      noise: fc.infiniteStream(fc.double({ min: -0.04, max: 0.04, noNaN: true })),
    })
    const bounds = { least: 2, most: 32 }
    fc.assert(
      fc.property(machine, ({ cores, waits, harm, noise }) => {
        const full = cores * (1 + waits)
        const rateOf = (count: number) => Math.min(count, full) / (1 + waits) / (1 + harm * Math.max(0, count - full))
        const best = Math.max(...Array.from({ length: 31 }, (_, index) => rateOf(index + 2)))
        let places = firstPlaces(cores, bounds)
        let done = 0
        for (let round = 0; round < 200; round += 1) {
          const rate = rateOf(places.count)
          assert.ok(places.count >= bounds.least && places.count <= bounds.most)
          if (round >= 50) done += rate
          places = computePlaces(places, rate * (1 + (noise.next().value ?? 0)), bounds)
        }
        assert.ok(done / 150 > best * 0.75, `${done / 150} of ${best}`)
      }),
    )
  })
})

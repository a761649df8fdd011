import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeFreeIds } from './compute-free-ids.ts'

const BLOCK = 65_536
const range = { first: BLOCK, length: 3 * BLOCK }
const hold = (hostId: number, length = BLOCK) => {
  const ids = [{ hostId, containerId: 0, length }]
  return { uids: ids, gids: ids }
}

describe('computeFreeIds()', () => {
  const rows: readonly (readonly [
    name: string,
    held: ReturnType<typeof hold>[],
    random: number,
    number | undefined,
  ])[] = [
    ['the first by chance', [], 0, BLOCK],
    ['the last by chance', [], 0.999, 3 * BLOCK],
    ['not one that is held', [hold(BLOCK)], 0, 2 * BLOCK],
    ['not one that is held in part', [hold(BLOCK + 1, BLOCK)], 0, 3 * BLOCK],
    ['none when all are held', [hold(BLOCK), hold(2 * BLOCK), hold(3 * BLOCK)], 0.5, undefined],
    ['as if those outside were not there', [hold(40 * BLOCK)], 0, BLOCK],
  ]
  for (const [name, held, random, expected] of rows) {
    test(`gives ${name}`, () => assert.equal(computeFreeIds({ range, idsPerPod: BLOCK, held, random }), expected))
  }

  test('never gives an id twice, and all before it gives none', () => {
    const chances = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
      minLength: 3,
      maxLength: 3,
    })
    fc.assert(
      fc.property(chances, (randoms) => {
        const held: ReturnType<typeof hold>[] = []
        for (const random of randoms) {
          const first = computeFreeIds({ range, idsPerPod: BLOCK, held, random })
          assert.ok(first !== undefined)
          held.push(hold(first))
        }
        assert.deepEqual(
          held.map(({ uids }) => uids[0]?.hostId).sort((a = 0, b = 0) => a - b),
          [BLOCK, 2 * BLOCK, 3 * BLOCK],
        )
        assert.equal(computeFreeIds({ range, idsPerPod: BLOCK, held, random: 0 }), undefined)
      }),
    )
  })
})

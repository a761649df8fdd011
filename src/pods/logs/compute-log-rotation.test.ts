import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeLogRotation } from './compute-log-rotation.ts'

// Names carry local time.
const now = new Date(2026, 0, 2, 3, 4, 5).getTime()
const rotated = '0.log.20260102-030405'
const compute = (names: readonly string[], maxFiles = 5) =>
  computeLogRotation({ logName: '0.log', names, maxFiles, now })
const day = (number: number) => `0.log.2025120${number}-000000`

describe('computeLogRotation()', () => {
  const rows: {
    name: string
    names: string[]
    maxFiles?: number
    remove?: string[]
    compress?: string[]
    rotated?: string
  }[] = [
    { name: 'only renames at first', names: ['0.log'] },
    { name: 'compresses the one before', names: ['0.log', day(1)], compress: [day(1)] },
    {
      name: 'keeps three compressed ones, the newest',
      names: ['0.log', day(4), `${day(1)}.gz`, `${day(3)}.gz`, `${day(2)}.gz`],
      remove: [`${day(1)}.gz`],
      compress: [day(4)],
    },
    {
      name: 'keeps only the one rotated now when two files are allowed',
      names: ['0.log', day(1), `${day(2)}.gz`],
      maxFiles: 2,
      remove: [day(1), `${day(2)}.gz`],
    },
    {
      name: 'clears what an agent left that died while it compressed',
      names: ['0.log', `${day(1)}.tmp`, day(1), `${day(2)}.gz.tmp`, day(3), `${day(3)}.gz`],
      remove: [`${day(1)}.tmp`, `${day(2)}.gz.tmp`, day(3)],
      compress: [day(1)],
    },
    {
      name: 'leaves the logs of other instances and foreign files alone',
      names: ['0.log', '1.log', `1${day(1).slice(1)}`, `1${day(1)}`, '0.log.save', '0.log.tmp', `${day(1)}.gz.bak`],
    },
    {
      name: 'never takes a name that is in use',
      names: ['0.log', rotated, '0.log.20260102-030406.gz'],
      compress: [rotated],
      rotated: '0.log.20260102-030407',
    },
  ]
  for (const { name, names, maxFiles, remove = [], compress = [], ...row } of rows) {
    test(name, () => assert.deepEqual(compute(names, maxFiles), { remove, compress, rotated: row.rotated ?? rotated }))
  }

  test('never leaves more files than allowed, and touches only what is there', () => {
    const suffixes = fc.constantFrom('', '.gz', '.tmp', '.gz.tmp')
    const names = fc.uniqueArray(
      fc.tuple(fc.integer({ min: 1, max: 9 }), suffixes).map(([number, suffix]) => `${day(number)}${suffix}`),
    )
    fc.assert(
      fc.property(names, fc.integer({ min: 2, max: 6 }), (others, maxFiles) => {
        const { remove, compress } = compute(['0.log', ...others], maxFiles)
        assert.ok([...remove, ...compress].every((name) => others.includes(name)))
        assert.equal(new Set([...remove, ...compress]).size, remove.length + compress.length)
        assert.ok(others.length - remove.length + 2 <= maxFiles)
      }),
    )
  })
})

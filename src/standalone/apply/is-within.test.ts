import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isWithin } from './is-within.ts'

const rows: readonly (readonly [what: string, wanted: unknown, live: unknown, expected: boolean])[] = [
  ['the same', { a: 1 }, { a: 1 }, true],
  ['more in the API', { a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }, true],
  ['another value', { a: 1 }, { a: 2 }, false],
  ['gone', { a: 1 }, {}, false],
  ['empty and absent', { a: {}, b: [], c: null }, {}, true],
  ['members by name', { a: [{ name: 'x', v: 1 }] }, { a: [{ name: 'y' }, { name: 'x', v: 1, w: 2 }] }, true],
  ['a member that changed', { a: [{ name: 'x', v: 1 }] }, { a: [{ name: 'x', v: 2 }] }, false],
  ['a member that went', { a: [{ name: 'x' }] }, { a: [] }, false],
  ['members without a name', { a: [1, 2] }, { a: [1, 3] }, false],
]

describe('isWithin()', () => {
  for (const [what, wanted, live, expected] of rows) test(what, () => assert.equal(isWithin(wanted, live), expected))
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeApplyPatch } from './compute-apply-patch.ts'

describe('computeApplyPatch()', () => {
  const rows: readonly (readonly [name: string, before: object, wanted: object, expected: object])[] = [
    ['nothing before', {}, { a: 1 }, { kind: 'patch', body: { a: 1 } }],
    ['a field changed', { a: 1 }, { a: 2 }, { kind: 'patch', body: { a: 2 } }],
    [
      'a field gone',
      { a: 1, b: { c: 1, d: 2 } },
      { b: { d: 2 } },
      { kind: 'patch', body: { a: null, b: { c: null, d: 2 } } },
    ],
    ['a field of another kind', { a: { b: 1 } }, { a: 'x' }, { kind: 'patch', body: { a: 'x' } }],
    [
      'a member of a list changed and one added',
      { c: [{ name: 'a', image: 'x' }] },
      { c: [{ name: 'b' }, { name: 'a', image: 'y' }] },
      { kind: 'patch', body: { c: [{ name: 'b' }, { name: 'a', image: 'y' }] } },
    ],
    ['a member of a list gone', { c: [{ name: 'a' }, { name: 'b' }] }, { c: [{ name: 'b' }] }, { kind: 'replace' }],
    ['a field of a member gone', { c: [{ name: 'a', x: 1 }] }, { c: [{ name: 'a' }] }, { kind: 'replace' }],
    ['a plain member gone', { args: ['a', 'b'] }, { args: ['a'] }, { kind: 'replace' }],
    ['a member that was another', { p: [{ port: 1 }] }, { p: [{ port: 2 }] }, { kind: 'replace' }],
  ]
  for (const [name, before, wanted, expected] of rows) {
    test(name, () => assert.deepEqual(computeApplyPatch(before, wanted), expected))
  }
})

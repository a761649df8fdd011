import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeApplyPatch } from './compute-apply-patch.ts'

describe('computeApplyPatch()', () => {
  const rows: readonly (readonly [name: string, before: object, wanted: object, expected: object])[] = [
    ['nothing before', {}, { a: 1 }, { kind: 'strategic', body: { a: 1 } }],
    ['a field changed', { a: 1 }, { a: 2 }, { kind: 'strategic', body: { a: 2 } }],
    [
      'a field gone',
      { a: 1, b: { c: 1, d: 2 } },
      { b: { d: 2 } },
      { kind: 'strategic', body: { a: null, b: { c: null, d: 2 } } },
    ],
    ['a field of another kind', { a: { b: 1 } }, { a: 'x' }, { kind: 'strategic', body: { a: 'x' } }],
    [
      'a member of a list changed and one added',
      { c: [{ name: 'a', image: 'x' }] },
      { c: [{ name: 'b' }, { name: 'a', image: 'y' }] },
      { kind: 'strategic', body: { c: [{ name: 'b' }, { name: 'a', image: 'y' }] } },
    ],
    [
      'a member of a list gone',
      { c: [{ name: 'a' }, { name: 'b' }] },
      { c: [{ name: 'b' }] },
      { kind: 'merge', body: { c: [{ name: 'b' }] } },
    ],
    [
      'a field of a member gone',
      { c: [{ name: 'a', x: 1 }] },
      { c: [{ name: 'a' }] },
      { kind: 'merge', body: { c: [{ name: 'a' }] } },
    ],
    ['a plain member gone', { args: ['a', 'b'] }, { args: ['a'] }, { kind: 'merge', body: { args: ['a'] } }],
    [
      'a member that was another',
      { p: [{ port: 1 }] },
      { p: [{ port: 2 }] },
      { kind: 'merge', body: { p: [{ port: 2 }] } },
    ],
    [
      'a member of a list and a field beside it gone',
      { a: { b: 1, c: [1, 2] } },
      { a: { c: [1] } },
      { kind: 'merge', body: { a: { b: null, c: [1] } } },
    ],
    [
      'a member of a list within a member gone',
      { c: [{ name: 'a', env: [1, 2] }] },
      { c: [{ name: 'a', env: [2] }] },
      { kind: 'merge', body: { c: [{ name: 'a', env: [2] }] } },
    ],
  ]
  for (const [name, before, wanted, expected] of rows) {
    test(name, () => assert.deepEqual(computeApplyPatch(before, wanted), expected))
  }
})

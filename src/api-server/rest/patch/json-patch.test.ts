import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DocumentValue } from '../../../base/document/document-value.ts'
import { applyJsonPatch } from './json-patch.ts'

const target = { a: { b: [1, 2, 3], 'x/y': 1, '~': 2 }, c: null }

describe('applyJsonPatch()', () => {
  const rows: readonly (readonly [string, DocumentValue, DocumentValue])[] = [
    ['adds a key', [{ op: 'add', path: '/d', value: 1 }], { ...target, d: 1 }],
    [
      'inserts into a list',
      [{ op: 'add', path: '/a/b/1', value: 9 }],
      { ...target, a: { ...target.a, b: [1, 9, 2, 3] } },
    ],
    [
      'appends to a list',
      [{ op: 'add', path: '/a/b/-', value: 9 }],
      { ...target, a: { ...target.a, b: [1, 2, 3, 9] } },
    ],
    [
      'removes',
      [
        { op: 'remove', path: '/a/b/0' },
        { op: 'remove', path: '/c' },
      ],
      { a: { ...target.a, b: [2, 3] } },
    ],
    ['replaces', [{ op: 'replace', path: '/a', value: 1 }], { a: 1, c: null }],
    ['moves', [{ op: 'move', from: '/a/b', path: '/c' }], { a: { 'x/y': 1, '~': 2 }, c: [1, 2, 3] }],
    [
      'copies',
      [
        { op: 'copy', from: '/a/b', path: '/c' },
        { op: 'remove', path: '/c/0' },
      ],
      { a: target.a, c: [2, 3] },
    ],
    [
      'reads escaped keys',
      [
        { op: 'test', path: '/a/x~1y', value: 1 },
        { op: 'test', path: '/a/~0', value: 2 },
      ],
      target,
    ],
    ['replaces the whole', [{ op: 'replace', path: '', value: 5 }], 5],
    [
      'sets a key called as the prototype',
      [{ op: 'add', path: '/__proto__', value: 1 }],
      JSON.parse('{"a":{"b":[1,2,3],"x/y":1,"~":2},"c":null,"__proto__":1}') as DocumentValue,
    ],
  ]
  for (const [name, patch, expected] of rows) {
    test(name, () => assert.deepEqual(applyJsonPatch(target, patch), expected))
  }

  const rejected: readonly (readonly [string, DocumentValue, RegExp])[] = [
    ['no list', {}, /expected a list of operations/],
    ['an operation that is none', [1], /to be an object/],
    ['an unknown operation', [{ op: 'x', path: '/a' }], /unknown operation/],
    ['a path without a slash', [{ op: 'add', path: 'a', value: 1 }], /expected "path"/],
    ['a path that is not there', [{ op: 'replace', path: '/z', value: 1 }], /\/z is not there/],
    ['a path through the prototype', [{ op: 'replace', path: '/__proto__/x', value: 1 }], /is not there/],
    ['an index beyond the end', [{ op: 'add', path: '/a/b/4', value: 1 }], /index 4/],
    ['an index with a leading zero', [{ op: 'remove', path: '/a/b/01' }], /index 01/],
    ['a test that fails', [{ op: 'test', path: '/a/b/0', value: 2 }], /failed/],
    ['removal of everything', [{ op: 'remove', path: '' }], /whole object/],
    ['a move into itself', [{ op: 'move', from: '/a', path: '/a/b/c' }], /into itself/],
    ['an operation without its value', [{ op: 'add', path: '/d' }], /no value/],
    [
      'copies that double',
      Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/n${index}` })),
      /copies too much/,
    ],
    [
      'thousands of operations',
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: 1 })),
      /10001 operations/,
    ],
  ]
  for (const [name, patch, expected] of rejected) {
    test(`rejects ${name}`, () => assert.throws(() => applyJsonPatch(target, patch), expected))
  }

  test('leaves the target as it is', () => {
    const before = structuredClone(target)
    applyJsonPatch(target, [{ op: 'remove', path: '/a/b/0' }])
    assert.deepEqual(target, before)
  })
})

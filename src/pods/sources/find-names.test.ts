import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findNames } from './find-names.ts'

describe('findNames()', () => {
  const rows: readonly (readonly [name: string, text: string, expected: readonly string[]])[] = [
    ['of a pod', 'kind: Pod\nmetadata: {name: a}\n', ['default/a']],
    ['with a namespace', 'kind: Pod\nmetadata: {name: a, namespace: shop}\n', ['shop/a']],
    ['of several documents', 'metadata: {name: a}\n---\nmetadata: {name: b}\n', ['default/a', 'default/b']],
    ['of those that can be read', 'metadata: {name: a\n---\nmetadata: {name: b}\n', ['default/b']],
    [
      'of those with something on the line of the separator',
      '--- {metadata: {name: a}}\n--- {metadata: {name: b}}\n',
      ['default/a', 'default/b'],
    ],
    ['none of too many documents', 'metadata: {name: a}\n---\n'.repeat(501), []],
    ['none', 'metadata: {labels: {name: a}}\n', []],
    ['none in what is no object', '- a\n', []],
    ['none that is no text', 'metadata: {name: [a]}\n', []],
  ]
  for (const [name, text, expected] of rows) test(name, () => assert.deepEqual(findNames(Buffer.from(text)), expected))
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatExactJson } from '../../base/document/exact-json.ts'
import { parseObjects } from './parse-objects.ts'

const parse = (text: string) => parseObjects(Buffer.from(text)).map(({ object }) => object)
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

describe('parseObjects()', () => {
  const good: readonly (readonly [name: string, text: string, expected: readonly object[]])[] = [
    ['nothing', '', []],
    ['comments alone', '# one\n---\n# two\n', []],
    ['JSON', JSON.stringify(configMap('a')), [configMap('a')]],
    [
      'several documents',
      '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n--- # next\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n',
      [configMap('a'), configMap('b')],
    ],
    [
      'a list',
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [configMap('a'), configMap('b')] }),
      [configMap('a'), configMap('b')],
    ],
    [
      'dashes inside a text',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: |\n    ---\n    b\n',
      [{ ...configMap('a'), data: { k: '---\nb\n' } }],
    ],
  ]
  for (const [name, text, expected] of good) test(`reads ${name}`, () => assert.deepEqual(parse(text), expected))

  test('keeps every digit of a large number', () => {
    const [object] = parse('apiVersion: v1\nkind: X\nmetadata: {name: a}\nsize: 9007199254740993\n')
    assert.match(formatExactJson(object), /"size":9007199254740993/)
  })

  const bad: readonly (readonly [name: string, text: string, message: RegExp])[] = [
    ['no object', '- a\n', /^line 1: expected an object$/],
    ['no kind', 'apiVersion: v1\n', /^line 1: kind is missing$/],
    ['no apiVersion in the second document', 'a: b\n---\nkind: Pod\n', /^line 1: apiVersion is missing$/],
    [
      'no name, in a later document',
      'apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata:\n  labels: {}\n',
      /^line 7: metadata.name is missing$/,
    ],
    ['broken YAML', 'apiVersion: v1\nkind: [\n', /^line \d: /],
    ['a key twice', 'apiVersion: v1\nkind: A\nkind: B\n', /^line 3: the key "kind" is there twice$/],
  ]
  for (const [name, text, message] of bad) {
    test(`rejects ${name}`, () => {
      assert.throws(
        () => parse(text),
        (error: unknown) => {
          assert.match((error as Error).message, message)
          return true
        },
      )
    })
  }
})

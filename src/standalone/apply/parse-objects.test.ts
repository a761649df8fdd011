import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatExactJson } from '../../base/document/exact-json.ts'
import { parseObjects } from './parse-objects.ts'

const parse = async (text: string) => (await parseObjects(Buffer.from(text))).map(({ object }) => object)
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
      'what stands on the line of a separator',
      `--- ${JSON.stringify(configMap('a'))}\n---\n${JSON.stringify(configMap('b'))}\n--- ${JSON.stringify(configMap('c'))}`,
      [configMap('a'), configMap('b'), configMap('c')],
    ],
    [
      'thousands of documents',
      `---\n${JSON.stringify(configMap('a'))}\n`.repeat(5000),
      Array(5000).fill(configMap('a')),
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
  for (const [name, text, expected] of good) {
    test(`reads ${name}`, async () => assert.deepEqual(await parse(text), expected))
  }

  test('keeps every digit of a large number', async () => {
    const [object] = await parse('apiVersion: v1\nkind: X\nmetadata: {name: a}\nsize: 9007199254740993\n')
    assert.match(formatExactJson(object), /"size":9007199254740993/)
  })

  test('lets others have a turn between many documents', async (t) => {
    // Each look at the clock takes as long as a turn may.
    let now = 0
    t.mock.method(performance, 'now', () => (now += 20))
    let turns = 0
    const count = () => {
      turns++
      pending = setImmediate(count)
    }
    let pending = setImmediate(count)
    t.after(() => clearImmediate(pending))
    await parse(`---\n${JSON.stringify(configMap('a'))}\n`.repeat(100))
    assert.ok(turns >= 50, `${turns} turns`)
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
    [
      'a mistake on the line of a separator',
      `${JSON.stringify(configMap('a'))}\n--- {apiVersion: v1}\n`,
      /^line 2: kind is missing$/,
    ],
    [
      'a document without a separator',
      'kind: A\n...\nkind: B\n',
      /^line 3: a second document starts here, expected "---"/,
    ],
    [
      'more documents than a file may have',
      'a: 1\n---\n'.repeat(800_000),
      /^line 20000: document 10001 starts here, expected at most 10000 in a file$/,
    ],
    ['broken YAML', 'apiVersion: v1\nkind: [\n', /^line \d: /],
    ['a key twice', 'apiVersion: v1\nkind: A\nkind: B\n', /^line 3: the key "kind" is there twice$/],
  ]
  for (const [name, text, message] of bad) {
    test(`rejects ${name}`, async () => {
      await assert.rejects(
        () => parse(text),
        (error: unknown) => {
          assert.match((error as Error).message, message)
          return true
        },
      )
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitDocuments } from './split-documents.ts'

const split = (text: string, most = 10) =>
  splitDocuments(Buffer.from(text), most).map(({ bytes, line }) => [line, Buffer.from(bytes).toString()])

describe('splitDocuments()', () => {
  const rows: readonly (readonly [name: string, text: string, expected: readonly (readonly [number, string])[]])[] = [
    ['nothing', '', []],
    ['white space and comments alone', ' \n\t# a\r\n---\n  # b\n---', []],
    ['one document', 'a: 1\nb: 2', [[0, 'a: 1\nb: 2']]],
    [
      'several documents',
      '---\na: 1\n---\nb: 2\n--- \nc: 3\n---\n',
      [
        [1, 'a: 1\n'],
        [3, 'b: 2\n'],
        [5, 'c: 3\n'],
      ],
    ],
    [
      'separators of Windows, after a byte order mark',
      '\ufeff---\r\na: 1\r\n---\r\nb: 2\r\n',
      [
        [1, 'a: 1\r\n'],
        [3, 'b: 2\r\n'],
      ],
    ],
    [
      'comments on the line of a separator',
      'a: 1\n--- # next\nb: 2\n',
      [
        [0, 'a: 1\n'],
        [2, 'b: 2\n'],
      ],
    ],
    [
      'what stands on the line of a separator',
      '--- {a: 1}\n--- # c\n---\t{b: 2} # d\n--- |\n c\n--- 5',
      [
        [0, '--- {a: 1}\n'],
        [2, '---\t{b: 2} # d\n'],
        [3, '--- |\n c\n'],
        [5, '--- 5'],
      ],
    ],
    ['dashes that separate nothing', 'a: |\n  ---\n----\n---x\n -- -', [[0, 'a: |\n  ---\n----\n---x\n -- -']]],
  ]
  for (const [name, text, expected] of rows) test(`finds ${name}`, () => assert.deepEqual(split(text), expected))

  test('refuses too many documents, also empty ones, where the first of them begins', () => {
    const place = { name: 'TextError', message: 'document 4 starts here, expected at most 3 in a file' }
    assert.equal(split('---\na: 1\n'.repeat(3), 3).length, 3)
    assert.throws(() => split('a: 1\n---\n'.repeat(4), 3), { ...place, place: { line: 6, column: 1 } })
    assert.throws(() => split('---\na: 1\n'.repeat(4), 3), { ...place, place: { line: 7, column: 1 } })
    assert.throws(() => split('---\n'.repeat(1_000_000), 3), { ...place, place: { line: 4, column: 1 } })
  })
})

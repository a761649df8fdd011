import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toPlain } from './json-value.ts'
import { parseDocument } from './parse-document.ts'

function parse(text: string): unknown {
  return toPlain(parseDocument(Buffer.from(text)).root)
}

describe('parseDocument()', () => {
  test('refuses bytes that are not UTF-8', () => {
    assert.throws(() => parseDocument(Buffer.from([0x61, 0x3a, 0x20, 0xff])), /not UTF-8 text at line 1$/)
  })

  test('reads scalars by the rules of the parser of Go', () => {
    const text =
      'a: [yes, No, on, off, y, n, ~, null, "yes", 0b11, 0o17, 017, 0xff, 1_000, +5, -5, 08, 1.5, .5, 1e3, 1.2.3, 10Mi]'
    assert.deepEqual(parse(text), {
      a: [
        true,
        false,
        true,
        false,
        true,
        false,
        null,
        null,
        'yes',
        3,
        15,
        15,
        255,
        1000,
        5,
        -5,
        8,
        1.5,
        0.5,
        1000,
        '1.2.3',
        '10Mi',
      ],
    })
  })

  test('keeps whole numbers exact', () => {
    assert.deepEqual(parse('a: 9007199254740991\nb: 9007199254740993\nc: -9223372036854775808\n'), {
      a: Number.MAX_SAFE_INTEGER,
      b: 9007199254740993n,
      c: -(2n ** 63n),
    })
  })

  test('keeps "__proto__" a key like any other', () => {
    const { root } = parseDocument(Buffer.from('__proto__: {a: 1}\nconstructor: 2\n'))
    assert.deepEqual([...root.keys()], ['__proto__', 'constructor'])
    assert.equal((toPlain(root) as { a?: number }).a, undefined)
  })

  test('reports lines and duplicates', () => {
    const { lineOf, duplicates } = parseDocument(Buffer.from('a:\n  b: 1\n  c: 2\n  b: 3\n'))
    assert.deepEqual(
      ['a', 'a.b', 'a.c', 'a.d'].map((path) => lineOf(path)),
      [1, 4, 3, undefined],
    )
    assert.deepEqual(duplicates, [{ path: 'a.b', line: 4 }])
  })
})

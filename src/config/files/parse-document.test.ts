import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toPlain } from './json-value.ts'
import { parseDocument } from './parse-document.ts'

async function parse(text: string): Promise<unknown> {
  return toPlain((await parseDocument(Buffer.from(text))).root)
}

describe('parseDocument()', () => {
  test('refuses bytes that are not UTF-8', async () => {
    await assert.rejects(parseDocument(Buffer.from([0x61, 0x3a, 0x20, 0xff])))
  })

  test('reads scalars by the rules of the parser of Go', async () => {
    const text =
      'a: [yes, No, on, off, y, n, ~, null, "yes", 0b11, 0o17, 017, 0xff, 1_000, +5, -5, 08, 1.5, .5, 1e3, 1.2.3, 10Mi]'
    assert.deepEqual(await parse(text), {
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

  test('keeps whole numbers exact', async () => {
    assert.deepEqual(await parse('a: 9007199254740991\nb: 9007199254740993\nc: -9223372036854775808\n'), {
      a: Number.MAX_SAFE_INTEGER,
      b: 9007199254740993n,
      c: -(2n ** 63n),
    })
  })

  test('keeps "__proto__" a key like any other', async () => {
    const { root } = await parseDocument(Buffer.from('__proto__: {a: 1}\nconstructor: 2\n'))
    assert.deepEqual([...root.keys()], ['__proto__', 'constructor'])
    assert.equal((toPlain(root) as { a?: number }).a, undefined)
  })

  test('tells lines and duplicates', async () => {
    const { lines, duplicates } = await parseDocument(Buffer.from('a:\n  b: 1\n  c: 2\n  b: 3\n'))
    assert.deepEqual(
      [...lines],
      [
        ['a.b', 4],
        ['a.c', 3],
        ['a', 1],
      ],
    )
    assert.deepEqual(duplicates, [{ path: 'a.b', line: 4 }])
  })
})

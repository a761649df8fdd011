import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePayload } from './parse-payload.ts'

const file = (text = '') => ({ content: Buffer.from(text), mode: 0o644 })

describe('parsePayload()', () => {
  test('sorts files into directories', () => {
    const [a, b, c] = [file('a'), file('b'), file('c')]
    assert.deepEqual(
      parsePayload(
        new Map([
          ['a', a],
          ['dir/b', b],
          ['./dir//..hidden', c],
        ]),
      ),
      new Map<string, unknown>([
        ['a', a],
        [
          'dir',
          new Map([
            ['b', b],
            ['..hidden', c],
          ]),
        ],
      ]),
    )
  })

  test('of one path given in two ways the later counts', () => {
    const later = file('later')
    assert.deepEqual(
      parsePayload(
        new Map([
          ['a/b', file()],
          ['a//b', later],
        ]),
      ),
      new Map([['a', new Map([['b', later]])]]),
    )
  })

  const refused: readonly (readonly [paths: readonly string[], message: string])[] = [
    [[''], 'Cannot write "" into a volume: the path is empty'],
    [['/a'], 'Cannot write "/a" into a volume: expected a relative path'],
    [['a/../b'], 'Cannot write "a/../b" into a volume: the path leads upwards by ".."'],
    [['..'], 'Cannot write ".." into a volume: the path leads upwards by ".."'],
    [['..data'], 'Cannot write "..data" into a volume: the path begins with ".."'],
    [['./..a'], 'Cannot write "./..a" into a volume: the path begins with ".."'],
    [['.'], 'Cannot write "." into a volume: expected the path of a file'],
    [['a\0'], 'Cannot write "a\0" into a volume: the path has a zero byte'],
    [['a', 'a/b'], 'Cannot write "a/b" into a volume: "a" is a file already, expected a directory'],
    [['a/b', 'a'], 'Cannot write "a" into a volume: a directory of this name is needed already'],
    [['é'.repeat(128)], `Cannot write "${'é'.repeat(128)}" into a volume: a name in it is longer than 255 bytes`],
    [
      ['a/'.repeat(2048) + 'b'],
      `Cannot write "${'a/'.repeat(2048)}b" into a volume: the path is longer than 4096 bytes`,
    ],
  ]
  for (const [paths, message] of refused)
    test(`refuses ${paths.join(' and ').slice(0, 20)}`, () => {
      assert.throws(() => parsePayload(new Map(paths.map((path) => [path, file()]))), { name: 'PayloadError', message })
    })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getHeapStatistics } from 'node:v8'
import * as fc from 'fast-check'
import { ManifestError } from './manifest-error.ts'
import { MAX_MANIFEST_BYTES, parseManifest } from './parse-manifest.ts'

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

function failureOf(content: Uint8Array): string {
  try {
    parseManifest(content)
  } catch (error) {
    assert.ok(error instanceof ManifestError)
    return error.message.replace('Cannot use the manifest: ', '')
  }
  return 'no failure'
}

describe('parseManifest()', () => {
  const values: readonly (readonly [string, string, unknown])[] = [
    ['a YAML map', 'a: 1\nb: [x, z]', { a: 1, b: ['x', 'z'] }],
    ['a JSON object', '{"a": 1, "b": ["x", null, true]}', { a: 1, b: ['x', null, true] }],
    ['JSON after white space', '\n\t {"a":{}}\n', { a: {} }],
    ['comments and an empty document before', '# hello\n---\n# more\n---\na: 1\n', { a: 1 }],
    ['a document end', 'a: 1\n...\n', { a: 1 }],
    ['quoted words stay text', `a: "yes"\nb: 'no'\nc: "1"`, { a: 'yes', b: 'no', c: '1' }],
    ['YAML 1.1 booleans', 'a: [yes, No, ON, off, y, N]', { a: [true, false, true, false, true, false] }],
    ['octal in both spellings', 'a: 0777\nb: 0o777', { a: 511, b: 511 }],
    ['nothing is null', 'a:\nb: ~', { a: null, b: null }],
    ['numbers as keys are text', '1: a\ntrue: b', { 1: 'a', true: 'b' }],
    ['block text', 'a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    ['tags', 'a: !!str 1\nb: !!int "2"\nc: !!binary aGk=', { a: '1', b: 2, c: 'hi' }],
    ['aliases', 'a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
    ['merge keys', 'a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
    ['the first of several merged maps wins', 'a: {<<: [{b: 1}, {b: 2, c: 3}]}', { a: { b: 1, c: 3 } }],
    ['integers beyond 2^53 exactly', 'a: 9007199254740993', { a: 9007199254740993n }],
    ['the same in JSON', '{"a": -9223372036854775808}', { a: -9223372036854775808n }],
    ['escapes', String.raw`{"a": "\u00e4\n\"/"}`, { a: 'ä\n"/' }],
    ['pairs of surrogates in JSON', String.raw`{"a": "\ud83d\ude00"}`, { a: '\u{1f600}' }],
    ['half a pair in JSON as Go does', String.raw`{"a": "x\ud83dx", "b": "\ude00"}`, { a: 'x\ufffdx', b: '\ufffd' }],
    ['escaped backslashes in YAML', String.raw`a: "\\ud83d \U0001F600"`, { a: '\\ud83d \u{1f600}' }],
    ['infinity as text in quotes', `a: ".inf"\nb: .infinite\nc: !!str .nan`, { a: '.inf', b: '.infinite', c: '.nan' }],
    ['long text', `a: "${'x'.repeat(2_000_000)}"`, { a: 'x'.repeat(2_000_000) }],
    ['long text in JSON', `{"a": "${'\\n'.repeat(1_000_000)}"}`, { a: '\n'.repeat(1_000_000) }],
    ['a long comment', `# ${'x'.repeat(9_000_000)}\na: 1`, { a: 1 }],
  ]
  for (const [name, text, expected] of values) {
    test(`reads ${name}`, () => assert.deepEqual(parseManifest(bytes(text)).value, expected))
  }

  test('takes __proto__ as a key like any other', () => {
    for (const text of ['{"__proto__": {"x": 1}}', '__proto__: {x: 1}']) {
      const { value } = parseManifest(bytes(text))
      assert.deepEqual(Object.keys(value as object), ['__proto__'])
      assert.equal((value as { x?: unknown }).x, undefined)
    }
  })

  const laughs = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (const [letter, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg', 'ih']) {
    laughs.push(`${letter}: &${letter} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`)
  }
  const failures: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['an empty file', bytes(''), /^1:1 empty, expected a Pod$/],
    ['white space alone', bytes(' \n\n'), /^1:1 empty, expected a Pod$/],
    ['binary data', bytes('a: b\nc\u0000d'), /^2:2 binary data/],
    ['text that is not UTF-8', Buffer.from([0x61, 0x3a, 0x0a, 0xff, 0xfe]), /^2:1 not UTF-8 text$/],
    ['too much', Buffer.alloc(MAX_MANIFEST_BYTES + 1, 'a'), /^1:1 10485761 bytes, expected at most 10485760$/],
    ['a second document', bytes('a: 1\n---\nb: 2\n'), /^[23]:\d a second document starts here/],
    ['a broken YAML', bytes('a: [1, 2\nb: 3'), /^2:1 /],
    ['a tab as indent', bytes('a:\n\tb: 1'), /^2:\d /],
    ['a key twice in YAML', bytes('a: 1\nb: 2\na: 3'), /^3:1 key "a" is there twice$/],
    ['a key twice in JSON', bytes('{"a": 1,\n "a": 2}'), /^2:2 key "a" is there twice$/],
    ['a JSON that ends early', bytes('{"a": [1,'), /^1:10 the text ends too early: expected a JSON value$/],
    ['half a string', bytes('{"a": "b'), /^1:7 expected a complete string$/],
    ['a bare word', bytes('{"a": yes}'), /^1:7 expected a JSON value$/],
    ['a comma too many', bytes('{"a": 1,}'), /^1:9 expected a key in double quotes$/],
    ['something after the object', bytes('{"a": 1}\n{"b": 2}'), /^2:1 text after the JSON object/],
    ['deep JSON', bytes('{"a":'.repeat(100_000)), /nested too deeply$/],
    ['deep YAML lists', bytes(`a: ${'['.repeat(100_000)}`), /nested too deeply$/],
    ['deep YAML blocks', bytes('- '.repeat(20_000)), /nested too deeply$/],
    ['very many values', bytes('- a\n'.repeat(200_000)), /too many values/],
    ['very many values in JSON', bytes(`{"a": [${'1,'.repeat(600_000)}1]}`), /^1:\d+ too many values$/],
    ['a billion laughs', bytes(laughs.join('\n')), /aliases repeat too much$/],
    ['an anchor inside itself', bytes('a: &a [*a]'), /^1:8 anchor "&a" contains itself$/],
    ['an alias of nothing', bytes('a: *b'), /^1:4 alias "\*b" names no anchor before it$/],
    ['a merge of text', bytes('a: {<<: x}'), /^1:5 "<<" merges something that is not a map$/],
    ['infinity', bytes('a: 1\nb: -.inf'), /^2:4 -\.inf is no number that JSON can hold$/],
    ['what is not a number', bytes('a: .NaN'), /^1:4 \.NaN is no number that JSON can hold$/],
    ['half a pair of surrogates', bytes(String.raw`a: "x \ud83d"`), /^1:7 \\ud83d is no Unicode character$/],
    ['surrogates in two escapes', bytes(String.raw`a: "\uD83D\uDE00"`), /\\uD83D is no Unicode character$/],
    [
      'a very long text in quotes',
      bytes(`a: "${'x'.repeat(9_000_000)}"`),
      /^1:4 a value of 9000002 characters, expected/,
    ],
    [
      'much text in double quotes',
      bytes(Array.from({ length: 4 }, (_, index) => `${'abcd'[index]}: "${'x'.repeat(600_000)}"`).join('\n')),
      /^4:4 more than 2097152 characters in double quotes$/,
    ],
    ['a very long block', bytes(`a: |\n${'  xxx\n'.repeat(1_500_000)}`), /a value of \d+ characters, expected/],
    ['a very long text in JSON', bytes(`{"a": "${'x'.repeat(9_000_000)}"}`), /^1:7 a value of 9000002 characters/],
    ['a map as key', bytes('? {a: 1}\n: b'), /^1:3 expected a key that is text$/],
  ]
  for (const [name, content, expected] of failures) {
    test(`refuses ${name}, with the place`, () => assert.match(failureOf(content), expected))
  }

  test('knows where a value stands', () => {
    const rows: readonly (readonly [string, readonly (string | number)[], string])[] = [
      ['a: 1\nb:\n  - c: 2\n    d: 3\n', ['b', 0, 'd'], '4:5'],
      ['{"a": 1,\n "b": [\n  {"c": 2}]}', ['b', 0, 'c'], '3:4'],
      ['a: 1\nb:\n  c: 2', ['b', 'missing', 'x'], '2:1'],
      ['a: &x {b: 1}\nc: *x', ['c', 'b'], '1:8'],
    ]
    for (const [text, segments, expected] of rows) {
      const { line, column } = parseManifest(bytes(text)).locate(segments)
      assert.equal(`${line}:${column}`, expected, text)
    }
  })

  test('reads back what JSON writes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'small' })), (value) => {
        const text = JSON.stringify(value)
        // Integers beyond 2^53 are bigint here, and rounded there.
        fc.pre(!text.includes('\u007f') && !/\d{16}/.test(text))
        assert.deepEqual(parseManifest(bytes(text)).value, JSON.parse(text))
      }),
    )
  })
})

describe('a manifest that is too large', () => {
  const MEGABYTE = 1_000_000
  const long = 'x'.repeat(9 * MEGABYTE)
  // The text itself is not on the heap of JavaScript; a value that is read is, and each line of a block is looked at.
  const rows: readonly (readonly [name: string, content: Uint8Array, mostMegabytes: number])[] = [
    ['a file of more than 10 MB', Buffer.alloc(MAX_MANIFEST_BYTES + 1, 'a'), 1],
    ['a text of 9 MB in JSON', bytes(`{"a": "${long}"}`), 5],
    ['a text of 9 MB in quotes', bytes(`a: "${long}"`), 5],
    ['a text of 9 MB without quotes', bytes(`a: ${long}`), 5],
    ['a block of 9 MB', bytes(`a: |\n  ${long}\n`), 5],
    ['a block of many lines', bytes(`a: |\n${'  xxxxx\n'.repeat(MEGABYTE)}`), 60],
  ]
  for (const [name, content, most] of rows)
    test(`is refused before it is read: ${name}`, () => {
      // The library is loaded.
      parseManifest(bytes('a: b'))
      const before = getHeapStatistics().total_allocated_bytes
      assert.match(failureOf(content), /expected at most \d+$/)
      const megabytes = (getHeapStatistics().total_allocated_bytes - before) / MEGABYTE
      assert.ok(megabytes < most, `${megabytes.toFixed(1)} MB were allocated`)
    })
})

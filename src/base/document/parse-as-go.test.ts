import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SyntaxProblem } from './document-value.ts'
import type { ParsedText } from './document-value.ts'
import { parseJson } from './parse-json.ts'
import { parseYaml } from './parse-yaml.ts'

/** What Go's parsers make of a text: a value, or nothing. Bodies of the API, manifests, configurations and kubeconfig files all come through here. */
type Row = readonly [what: string, text: string, expected: { readonly value: unknown } | { readonly problem: RegExp }]

const json: readonly Row[] = [
  ['a number beyond all numbers', '{"a":1e400}', { problem: /^1e400 is larger than numbers can be$/ }],
  ['one below', '{"a":-1e400}', { problem: /^-1e400 is larger/ }],
  ['a number next to nothing', '{"a":1e-400}', { value: { a: 0 } }],
  ['NaN', '{"a":NaN}', { problem: /expected a JSON value/ }],
  ['an octal number', '{"a":01}', { problem: /expected "," or "}"/ }],
  ['a number that ends in a dot', '{"a":1.}', { problem: /expected "," or "}"/ }],
  ['a comma at the end', '{"a":1,}', { problem: /expected a key/ }],
  ['a byte order mark', '\uFEFF{}', { problem: /expected a JSON value/ }],
  ['half of a surrogate pair', String.raw`{"a":"\ud800"}`, { value: { a: '\uFFFD' } }],
  ['a control character', '{"a":"\u0001"}', { problem: /expected a complete string/ }],
  ['an integer that only text can hold', '{"a":9223372036854775807}', { value: { a: 9223372036854775807n } }],
]

const yaml: readonly Row[] = [
  ['not a number', 'a: .nan', { problem: /^\.nan is no number that JSON can hold$/ }],
  ['no end', 'a: -.inf', { problem: /^-\.inf is no number/ }],
  ['a number beyond all numbers', 'a: 1e400', { value: { a: '1e400' } }],
  ['half of a surrogate pair', String.raw`a: "\ud800"`, { problem: /is no Unicode character/ }],
  ['a control character', 'a: "\u0001"', { problem: /^control characters are not allowed$/ }],
  ['a control character in a comment', '# \u0007\na: 1', { problem: /^control characters are not allowed$/ }],
  ['the character of deletion', 'a: \u007F', { problem: /^control characters are not allowed$/ }],
  ['no character at all', 'a: \uFFFF', { problem: /^control characters are not allowed$/ }],
  ['a byte order mark', '\uFEFFa: 1', { value: { a: 1 } }],
  ['the next line', 'a: "b\u0085c"', { value: { a: 'b\u0085c' } }],
  ['a character of two units', 'a: 🚢', { value: { a: '🚢' } }],
  ['no key', '~: a', { problem: /expected a key that is text/ }],
  ['a map as key', '? {a: 1}\n: b', { problem: /expected a key that is text/ }],
]

const cases: readonly (readonly [string, (text: string) => ParsedText, readonly Row[]])[] = [
  ['parseJson()', parseJson, json],
  ['parseYaml()', parseYaml, yaml],
]
for (const [name, parse, rows] of cases)
  describe(name, () => {
    for (const [what, text, expected] of rows)
      test(what, () => {
        if ('value' in expected) return assert.deepEqual(parse(text).value, expected.value)
        assert.throws(
          () => parse(text),
          (error) => {
            assert.ok(error instanceof SyntaxProblem)
            assert.match(error.message, expected.problem)
            return true
          },
        )
      })

    test('says which keys are there twice', () => {
      assert.equal(parse('{"a":1,"b":2,"a":3}').duplicates.length, 1)
    })
  })

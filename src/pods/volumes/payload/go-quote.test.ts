import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goQuote } from './go-quote.ts'

test('goQuote() writes what is not printable as Go does', () => {
  const rows: readonly (readonly [text: string, quoted: string])[] = [
    ['', '""'],
    ['plain text', '"plain text"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\0\u001B\u007F', '"\\x00\\x1b\\x7f"'],
    ['é世☺😀', '"é世☺😀"'],
    ['\u0085\u00A0\u200B\u2028\uFEFF', '"\\u0085\\u00a0\\u200b\\u2028\\ufeff"'],
    ['\u{E0001}', '"\\U000e0001"'],
    ['\uD800', '"\uFFFD"'],
    ["'`%", '"\'`%"'],
  ]
  for (const [text, quoted] of rows) assert.equal(goQuote(text), quoted)
})

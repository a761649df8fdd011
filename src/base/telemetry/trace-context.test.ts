import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatTraceparent, parseTraceparent } from './trace-context.ts'

const [TRACE, SPAN] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']

describe('parseTraceparent()', () => {
  const rows: readonly (readonly [string | undefined, boolean | undefined])[] = [
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`01-${TRACE}-${SPAN}-01-more`, true],
    [`ff-${TRACE}-${SPAN}-01`, undefined],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
    [`00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    [`00-${TRACE}-${SPAN}`, undefined],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [text, isSampled] of rows) {
    test(`reads ${text}`, () => {
      const expected = isSampled === undefined ? undefined : { traceId: TRACE, spanId: SPAN, isSampled }
      assert.deepEqual(parseTraceparent(text), expected)
    })
  }
})

test('formatTraceparent() writes what parseTraceparent() reads', () => {
  for (const isSampled of [true, false]) {
    const context = { traceId: TRACE, spanId: SPAN, isSampled }
    assert.deepEqual(parseTraceparent(formatTraceparent(context)), context)
  }
})

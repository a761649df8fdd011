import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { formatQuantity, parseQuantity } from './parse-quantity.ts'

function canonical(text: string): string | undefined {
  const quantity = parseQuantity(text)
  return quantity && formatQuantity(quantity)
}

describe('parseQuantity()', () => {
  test('gives each amount its one spelling', () => {
    const rows: readonly (readonly [string, string | undefined])[] = [
      ['0', '0'],
      ['1', '1'],
      ['1000m', '1'],
      ['0.5', '500m'],
      ['.5', '500m'],
      ['1.', '1'],
      ['1500', '1500'],
      ['2000', '2k'],
      ['1Gi', '1Gi'],
      ['1024Mi', '1Gi'],
      ['1.5Gi', '1536Mi'],
      ['1Ki', '1Ki'],
      ['0.1Ki', '102400m'],
      ['1e3', '1e3'],
      ['12E2', '1200'],
      ['1E', '1E'],
      ['-5m', '-5m'],
      ['+5', '5'],
      ['0.0000000001', '1n'],
      ['9223372036854775807', '9223372036854775807'],
      ['', undefined],
      ['1 Gi', undefined],
      ['1gb', undefined],
      ['abc', undefined],
      ['1.2.3', undefined],
      ['0x10', undefined],
      ['1K', undefined],
    ]
    for (const [text, expected] of rows) assert.equal(canonical(text), expected, text)
  })

  test('reads back what it writes', () => {
    const notation = fc.constantFrom('decimal', 'binary', 'exponent')
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), notation, (units, notation) => {
        const text = formatQuantity({ nanos: units * 1_000_000_000n, notation })
        assert.equal(parseQuantity(text)?.nanos, units * 1_000_000_000n, text)
        assert.equal(canonical(text), text)
      }),
    )
  })
})

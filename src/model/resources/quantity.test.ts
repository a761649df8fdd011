import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  roundToMilli,
  tryParseQuantity,
  type Quantity,
} from './quantity.ts'

const UNIT = 1_000_000_000n

describe('parseQuantity()', () => {
  const rows: readonly (readonly [text: string, nanos: bigint, format: Quantity['format'], canonical: string])[] = [
    ['0', 0n, 'DecimalSI', '0'],
    ['1', UNIT, 'DecimalSI', '1'],
    ['+1', UNIT, 'DecimalSI', '1'],
    ['-1', -UNIT, 'DecimalSI', '-1'],
    ['.5', UNIT / 2n, 'DecimalSI', '500m'],
    ['5.', 5n * UNIT, 'DecimalSI', '5'],
    ['1500m', (UNIT * 3n) / 2n, 'DecimalSI', '1500m'],
    ['100000m', 100n * UNIT, 'DecimalSI', '100'],
    ['1000', 1000n * UNIT, 'DecimalSI', '1k'],
    ['1n', 1n, 'DecimalSI', '1n'],
    ['0.1n', 1n, 'DecimalSI', '1n'],
    ['-0.1n', -1n, 'DecimalSI', '-1n'],
    ['10Mi', 10n * 1024n * 1024n * UNIT, 'BinarySI', '10Mi'],
    ['1.5Gi', 1536n * 1024n * 1024n * UNIT, 'BinarySI', '1536Mi'],
    ['0.5Ki', 512n * UNIT, 'BinarySI', '512'],
    ['2E', 2n * 10n ** 18n * UNIT, 'DecimalSI', '2E'],
    ['2000', 2000n * UNIT, 'DecimalSI', '2k'],
    ['1024Mi', 2n ** 30n * UNIT, 'BinarySI', '1Gi'],
    ['0.1Ki', 102_400_000_000n, 'BinarySI', '102400m'],
    ['12E2', 1200n * UNIT, 'DecimalExponent', '1200'],
    ['-5m', -5_000_000n, 'DecimalSI', '-5m'],
    ['1e3', 1000n * UNIT, 'DecimalExponent', '1e3'],
    ['1E3', 1000n * UNIT, 'DecimalExponent', '1e3'],
    ['12e-1', (UNIT * 12n) / 10n, 'DecimalExponent', '1200e-3'],
    ['9223372036854775807', (2n ** 63n - 1n) * UNIT, 'DecimalSI', '9223372036854775807'],
    ['9223372036854775808', (2n ** 63n - 1n) * UNIT, 'DecimalSI', '9223372036854775807'],
    ['1e999999999', (2n ** 63n - 1n) * UNIT, 'DecimalExponent', '9223372036854775807'],
    ['1e-999999999', 1n, 'DecimalExponent', '1e-9'],
    ['0e999999999', 0n, 'DecimalExponent', '0'],
  ]
  for (const [text, nanos, format, canonical] of rows) {
    test(`reads ${text} and prints it as ${canonical}`, () => {
      assert.deepEqual(parseQuantity(text), { nanos, format })
      assert.equal(formatQuantity(parseQuantity(text)), canonical)
    })
  }

  const malformed = [
    '',
    ' ',
    '1 ',
    '1 Gi',
    '1gb',
    'abc',
    'Mi',
    '1Zi',
    '1KI',
    '1ki',
    '1K',
    '--1',
    '1.2.3',
    '.',
    '1e',
    '1e+',
    '0x10',
    '1,5',
    '1'.repeat(257),
  ]
  for (const text of malformed) {
    test(`refuses "${text.slice(0, 20)}"`, () => {
      assert.equal(tryParseQuantity(text), undefined)
      assert.throws(() => parseQuantity(text), /^Error: Cannot read quantity/)
    })
  }

  test('gives the same value back after printing', () => {
    const quantity = fc.record({
      nanos: fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
      format: fc.constantFrom<Quantity['format']>('DecimalSI', 'DecimalExponent'),
    })
    fc.assert(
      fc.property(quantity, (value) => {
        assert.equal(parseQuantity(formatQuantity(value)).nanos, value.nanos)
      }),
    )
  })

  test('gives the same bytes back after printing a binary quantity', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (bytes) => {
        const text = formatQuantity({ nanos: bytes * UNIT, format: 'BinarySI' })
        assert.equal(quantityValue(parseQuantity(text)), bytes)
      }),
    )
  })
})

describe('rounding', () => {
  test('goes up to the next unit and milli', () => {
    assert.deepEqual(
      ['1', '1001m', '999m', '0', '-1500m', '100u'].map((text) => {
        const quantity = parseQuantity(text)
        return [quantityValue(quantity), quantityMilliValue(quantity)]
      }),
      [
        [1n, 1000n],
        [2n, 1001n],
        [1n, 999n],
        [0n, 0n],
        [-1n, -1500n],
        [1n, 1n],
      ],
    )
  })
})

describe('roundToMilli()', () => {
  test('goes away from zero, so that a request for something gives something', () => {
    const rounded = ['1', '1500m', '1n', '-1n', '0', '0.1Ki'].map((text) => roundToMilli(parseQuantity(text)))
    assert.deepEqual(rounded.map(formatQuantity), ['1', '1500m', '1m', '-1m', '0', '102400m'])
  })
})

describe('compareQuantities()', () => {
  test('orders by value, whatever the suffix', () => {
    const sorted = ['1Gi', '1G', '0.5', '499m', '-1'].map(parseQuantity).toSorted(compareQuantities)
    assert.deepEqual(sorted.map(formatQuantity), ['-1', '499m', '500m', '1G', '1Gi'])
    assert.equal(compareQuantities(parseQuantity('1024Mi'), parseQuantity('1Gi')), 0)
  })
})

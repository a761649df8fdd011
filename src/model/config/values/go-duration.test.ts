import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { formatGoDuration, parseGoDuration } from './go-duration.ts'

describe('parseGoDuration()', () => {
  const rows: readonly (readonly [text: string, ms: number, canonical: string])[] = [
    ['0', 0, '0s'],
    ['-0', 0, '0s'],
    ['0s', 0, '0s'],
    ['1ns', 0.000001, '1ns'],
    ['1.5us', 0.0015, '1.5µs'],
    ['1µs', 0.001, '1µs'],
    ['1μs', 0.001, '1µs'],
    ['100ms', 100, '100ms'],
    ['1.5s', 1500, '1.5s'],
    ['90s', 90_000, '1m30s'],
    ['1m', 60_000, '1m0s'],
    ['4h', 14_400_000, '4h0m0s'],
    ['.5h', 1_800_000, '30m0s'],
    ['1h15m30.918s', 4_530_918, '1h15m30.918s'],
    ['-1.5h', -5_400_000, '-1h30m0s'],
    ['+5s', 5000, '5s'],
  ]
  for (const [text, ms, canonical] of rows) {
    test(`reads ${text} and prints it as ${canonical}`, () => {
      assert.equal(parseGoDuration(text) + 0, ms)
      assert.equal(formatGoDuration(parseGoDuration(text)), canonical)
    })
  }

  for (const text of ['', 's', '5', '1d', '1 s', '1s ', '--1s', '1.2.3s', '.s', '3000000h', '1'.repeat(200)]) {
    test(`refuses "${text.slice(0, 20)}"`, () => {
      assert.throws(() => parseGoDuration(text), /^Error: Cannot read duration/)
    })
  }

  test('gives the same time back after printing', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 45), max: 2 ** 45 }), (micros) => {
        const ms = micros / 1000
        assert.equal(Math.round(parseGoDuration(formatGoDuration(ms)) * 1000), Math.round(ms * 1000))
      }),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatLogTime, isBefore, parseLogTime, toLogTime } from './log-time.ts'

const rows: readonly (readonly [text: string, shown: string | undefined, seconds: number, nanoseconds: number])[] = [
  ['1970-01-01T00:00:10Z', '1970-01-01T00:00:10.000000000Z', 10, 0],
  ['1970-01-01T00:00:10.5Z', '1970-01-01T00:00:10.500000000Z', 10, 500_000_000],
  ['1970-01-01T01:00:10.123456789+01:00', '1970-01-01T01:00:10.123456789+01:00', 10, 123_456_789],
  ['1970-01-01T00:00:10.1234567891+00:00', '1970-01-01T00:00:10.123456789Z', 10, 123_456_789],
]

describe('log times', () => {
  for (const [text, shown, seconds, nanoseconds] of rows) {
    test(`reads and shows ${text}`, () => {
      assert.equal(formatLogTime(text), shown)
      assert.deepEqual(parseLogTime(text), { seconds, nanoseconds })
    })
  }
  for (const text of ['', 'now', '1970-01-01', '1970-01-01T00:00:10', '1970-13-01T00:00:10Z'])
    test(`does not take "${text}" for a time`, () => assert.equal(parseLogTime(text), undefined))

  test('orders times within a second', () => {
    const first = { seconds: 1, nanoseconds: 5 }
    assert.deepEqual(
      [
        isBefore(first, { seconds: 1, nanoseconds: 6 }),
        isBefore(first, first),
        isBefore({ seconds: 0, nanoseconds: 9 }, first),
      ],
      [true, false, true],
    )
  })

  test('takes milliseconds', () => assert.deepEqual(toLogTime(1500.25), { seconds: 1, nanoseconds: 500_250_000 }))
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCronSchedule } from './cron-schedule.ts'

describe('parseCronSchedule()', () => {
  for (const [text, field, expected] of [
    ['*/15 * * * *', 'minutes', [0, 15, 30, 45]],
    ['5-10/2,59 * * * *', 'minutes', [5, 7, 9, 59]],
    ['50/3 * * * *', 'minutes', [50, 53, 56, 59]],
    ['0 0 ? jan,DEC *', 'months', [1, 12]],
    ['0 0 * * mon-wed', 'weekdays', [1, 2, 3]],
    ['@weekly', 'weekdays', [0]],
  ] as const) {
    test(text, () => assert.deepEqual([...parseCronSchedule(text)[field]], expected))
  }

  test('both days restricted means either', () => {
    assert.equal(parseCronSchedule('0 0 1 * 1').isEitherDay, true)
    assert.equal(parseCronSchedule('0 0 1 * *').isEitherDay, false)
    assert.equal(parseCronSchedule('0 0 */2 * 1').isEitherDay, true)
    assert.equal(parseCronSchedule('@every 1h30m').everyMs, 5_400_000)
  })

  for (const [text, message] of [
    ['* * * *', /expected exactly 5 fields, found 4/],
    ['60 * * * *', /minute must be from 0 to 59/],
    ['* * * * 7', /day of week must be from 0 to 6/],
    ['9-5 * * * *', /beyond end of range/],
    ['*/0 * * * *', /positive number/],
    ['@often', /unrecognized descriptor/],
    ['@every soon', /failed to parse duration/],
    ['TZ=UTC * * * * *', /use timeZone field/],
  ] as const) {
    test(`rejects "${text}"`, () => assert.throws(() => parseCronSchedule(text), message))
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CronJob, CronJobSpec } from '../../../model/generated/api-groups.ts'
import { parseCronSchedule } from '../../../model/text/cron-schedule.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeDueRun } from './compute-due-run.ts'
import { computeNextTime, createWallClock } from './compute-next-time.ts'

const utc = createWallClock('UTC')
const berlin = createWallClock('Europe/Berlin')
const at = (text: string) => Date.parse(text)
const show = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString().slice(0, 16))

describe('computeNextTime()', () => {
  for (const [schedule, after, wall, expected] of [
    ['*/5 * * * *', '2026-01-01T00:00:00Z', utc, '2026-01-01T00:05'],
    ['0 12 * * *', '2026-01-01T12:00:00Z', utc, '2026-01-02T12:00'],
    ['0 0 29 2 *', '2026-03-01T00:00:00Z', utc, '2028-02-29T00:00'],
    ['0 0 31 2 *', '2026-01-01T00:00:00Z', utc, undefined],
    ['0 0 13 * 5', '2026-01-01T00:00:00Z', utc, '2026-01-02T00:00'],
    ['30 12 * * *', '2026-07-01T00:00:00Z', berlin, '2026-07-01T10:30'],
    // Clocks go from 2 to 3 on the 29th of March: that day has no half past two.
    ['30 2 * * *', '2026-03-28T12:00:00Z', berlin, '2026-03-30T00:30'],
    ['30 2 * * *', '2026-03-27T12:00:00Z', berlin, '2026-03-28T01:30'],
    ['0 0 * * *', '2026-10-24T23:00:00Z', berlin, '2026-10-25T23:00'],
  ] as const) {
    test(`${schedule} after ${after}`, () => {
      assert.equal(show(computeNextTime(parseCronSchedule(schedule), at(after), wall)), expected)
    })
  }
})

describe('computeDueRun()', () => {
  const run = (spec: Partial<CronJobSpec>, last: string, now: string) => {
    const schedule = spec.schedule ?? '*/5 * * * *'
    const cronJob: Live<CronJob> = {
      metadata: { name: 'c', namespace: 'default', uid: 'u', resourceVersion: '1' },
      spec: { schedule, jobTemplate: {}, ...spec },
      status: { lastScheduleTime: last },
    }
    return computeDueRun(cronJob, parseCronSchedule(schedule), utc, at(now))
  }

  test('of many missed times only the latest is due', () => {
    const { dueAt, nextAt, isFarBehind } = run({}, '2026-01-01T00:00:00Z', '2026-01-01T01:02:00Z')
    assert.deepEqual([show(dueAt), show(nextAt), isFarBehind], ['2026-01-01T01:00', '2026-01-01T01:05', false])
  })

  test('years behind the latest is found too', () => {
    const { dueAt, isFarBehind } = run({ schedule: '* * * * *' }, '2020-01-01T00:00:00Z', '2026-01-01T00:00:30Z')
    assert.deepEqual([show(dueAt), isFarBehind], ['2026-01-01T00:00', true])
    const odd = run({ schedule: '0,1,2 3 * * *' }, '2025-01-01T00:00:00Z', '2026-01-01T12:00:00Z')
    assert.equal(show(odd.dueAt), '2026-01-01T03:02')
  })

  test('what is later than its deadline is not started', () => {
    const spec = { startingDeadlineSeconds: 60 }
    assert.equal(run(spec, '2026-01-01T00:00:00Z', '2026-01-01T01:02:00Z').dueAt, undefined)
    assert.equal(show(run(spec, '2026-01-01T00:00:00Z', '2026-01-01T01:00:30Z').dueAt), '2026-01-01T01:00')
  })

  test('nothing is due before its time', () => {
    assert.equal(run({}, '2026-01-01T00:00:00Z', '2026-01-01T00:04:59Z').dueAt, undefined)
  })
})

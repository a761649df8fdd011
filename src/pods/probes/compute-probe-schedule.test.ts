import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeNextRun, computeProbeSchedule, createProbeSchedule } from './compute-probe-schedule.ts'
import type { ProbeSchedule } from './compute-probe-schedule.ts'

const PERIOD = 10_000

const running: ProbeSchedule = {
  containerId: 'c-1',
  ticksFrom: 1000,
  notBefore: 1000,
  lastRunAt: Number.NEGATIVE_INFINITY,
  held: false,
  soon: false,
}

describe('createProbeSchedule()', () => {
  const rows: readonly (readonly [name: string, now: number, ticksFrom: number])[] = [
    ['spreads the probes of an agent that has just begun', 4000, 4000 + 2500],
    ['does so as long as it is younger than a period', 9999, 9999 + 2500],
    ['begins at once later', 10_000, 10_000],
  ]
  for (const [name, now, ticksFrom] of rows) {
    test(name, () => {
      const schedule = createProbeSchedule({ now, agentStartedAt: 0, periodMs: PERIOD, chance: 0.25 })
      assert.deepEqual([schedule.ticksFrom, schedule.notBefore], [ticksFrom, undefined])
    })
  }
})

describe('computeProbeSchedule()', () => {
  const view = { containerId: 'c-1', ranMs: 0, started: true }
  const liveness = { type: 'liveness', initialDelayMs: 0, now: 5000 } as const
  const startup = { ...liveness, type: 'startup' } as const
  const fresh: ProbeSchedule = { ...running, containerId: undefined, notBefore: undefined }
  const rows: readonly (readonly [
    name: string,
    schedule: ProbeSchedule,
    view: Parameters<typeof computeProbeSchedule>[1],
    probe: Parameters<typeof computeProbeSchedule>[2],
    expected: Partial<ProbeSchedule>,
  ])[] = [
    ['asks a container that runs', fresh, view, liveness, { containerId: 'c-1', notBefore: 5000 }],
    ['asks nothing while none runs', running, { ...view, containerId: undefined }, liveness, { notBefore: undefined }],
    ['asks nothing about life before the start', fresh, { ...view, started: false }, liveness, { containerId: 'c-1' }],
    [
      'asks about the start before the start, and at once',
      fresh,
      { ...view, started: false },
      startup,
      { containerId: 'c-1', notBefore: 5000, soon: true },
    ],
    ['asks nothing about the start afterwards', running, view, startup, { notBefore: undefined }],
    ['leaves a schedule alone that holds', running, view, liveness, {}],
    [
      'asks no more when all is said',
      { ...running, held: true, soon: true },
      view,
      liveness,
      { held: true, notBefore: undefined },
    ],
    [
      'asks a new instance again',
      { ...running, held: true, notBefore: undefined },
      { ...view, containerId: 'c-2' },
      liveness,
      { containerId: 'c-2', held: false, notBefore: 5000 },
    ],
    [
      'waits for what is left of the delay',
      fresh,
      { ...view, ranMs: 2000 },
      { ...liveness, initialDelayMs: 6000 },
      { containerId: 'c-1', notBefore: 9000 },
    ],
    [
      'waits no more when the delay has passed',
      fresh,
      { ...view, ranMs: 7000 },
      { ...liveness, initialDelayMs: 6000 },
      { containerId: 'c-1', notBefore: 5000 },
    ],
    [
      'keeps the request for a run until the delay has passed',
      { ...fresh, soon: true },
      view,
      { ...liveness, type: 'readiness', initialDelayMs: 6000 },
      { containerId: 'c-1', notBefore: 11_000, soon: true },
    ],
  ]
  for (const [name, schedule, seen, probe, expected] of rows) {
    test(name, () => {
      const before = { ...schedule, ...('soon' in expected || schedule.held ? { soon: false } : {}) }
      assert.deepEqual(computeProbeSchedule(schedule, seen, probe), { ...before, ...expected })
    })
  }
})

describe('computeNextRun()', () => {
  const rows: readonly (readonly [name: string, schedule: ProbeSchedule, expected: number | undefined])[] = [
    ['nothing to ask', { ...running, notBefore: undefined }, undefined],
    ['the first tick', running, 1000],
    ['a tick that lies ahead', { ...running, notBefore: 0 }, 1000],
    ['the next tick after a container came up', { ...running, notBefore: 1001 }, 11_000],
    ['the tick after the last run', { ...running, lastRunAt: 1000 }, 11_000],
    ['the tick after the end of a run', { ...running, lastRunAt: 1000, notBefore: 1500 }, 11_000],
    ['ticks that passed during a long run are dropped', { ...running, lastRunAt: 1000, notBefore: 25_000 }, 31_000],
    ['at once when asked for', { ...running, notBefore: 4321, soon: true }, 4321],
  ]
  for (const [name, schedule, expected] of rows) {
    test(name, () => assert.equal(computeNextRun(schedule, PERIOD), expected))
  }

  test('a tick is always after the last run, never too early, and at most a period later', () => {
    const time = fc.integer({ min: 0, max: 1_000_000 })
    fc.assert(
      fc.property(time, time, fc.integer({ min: 0, max: 5000 }), (ticksFrom, lastRunAt, tookMs) => {
        const notBefore = lastRunAt + tookMs
        const due = computeNextRun({ ...running, ticksFrom, lastRunAt, notBefore }, PERIOD) ?? Number.NaN
        assert.ok(due > lastRunAt && due >= notBefore && (due - ticksFrom) % PERIOD === 0)
        assert.ok(due <= Math.max(ticksFrom + PERIOD, notBefore + PERIOD))
      }),
    )
  })
})

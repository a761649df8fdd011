import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeReconnectDelay } from './compute-reconnect-delay.ts'
import type { Breaks } from './compute-reconnect-delay.ts'

test('computeReconnectDelay() doubles up to half a minute and starts over after a minute without a break', () => {
  let breaks: Breaks | undefined
  let now = 0
  const delays: number[] = []
  for (const pauseMs of [0, 1000, 1000, 1000, 1000, 1000, 59_999, 60_000]) {
    now += pauseMs
    const next = computeReconnectDelay(breaks, now, 1)
    breaks = next.breaks
    delays.push(next.delayMs)
  }
  assert.deepEqual(delays, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 800])
  assert.equal(computeReconnectDelay(undefined, 0, 0).delayMs, 400)
})

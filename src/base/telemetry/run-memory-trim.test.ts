import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { runMemoryTrim } from './run-memory-trim.ts'

const CHECKS_UNTIL_LATE = 60
const CHECKS_OF_LONG_REST = 12

test('runMemoryTrim() gives memory back when it is quiet and there is more than before, and what malloc keeps now and then', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let [done, garbage, used] = [0, 30, 50]
  let [idleMs, isBusy] = [0, false]
  const times = { collected: 0, trimmed: 0, unmapped: 0 }
  const deps = {
    clock,
    work: () => done,
    idleCpuMs: () => idleMs,
    residentBytes: () => (garbage + used) * 1e6,
    collectGarbage() {
      times.collected += 1
      garbage = 0
      return 1
    },
    trimMalloc: () => void (times.trimmed += 1),
    unmapCode: () => void (times.unmapped += 1),
  }
  const running = runMemoryTrim(deps, stop.signal)
  const pass = async (work: number, grows: { garbage?: number; used?: number } = {}) => {
    done += work
    garbage += grows.garbage ?? 0
    used += grows.used ?? 0
    idleMs += isBusy ? 2499 : 2500
    await clock.advance(5000)
    return times.collected
  }
  // The start, when it is not quiet yet.
  assert.deepEqual([await pass(6), await pass(5), await pass(0)], [0, 1, 1])
  // A burst of work, with little garbage at first.
  assert.deepEqual([await pass(300, { garbage: 5 }), await pass(5), await pass(300, { garbage: 2 })], [1, 1, 1])
  assert.deepEqual([await pass(5), await pass(5)], [2, 2])
  // A crowd of callers, who are no work.
  assert.deepEqual([await pass(0, { used: 40 }), await pass(0, { used: 2 }), await pass(0)], [3, 3, 3])
  // Work of others.
  isBusy = true
  assert.deepEqual([await pass(0, { garbage: 30 }), await pass(0)], [3, 3])
  isBusy = false
  assert.equal(await pass(0), 4)
  // Work of others without end: after a minute of rest the pause is taken all the same, and not again without need.
  isBusy = true
  assert.equal(await pass(6, { garbage: 30 }), 4)
  for (let check = 0; check < CHECKS_OF_LONG_REST - 1; check += 1) assert.equal(await pass(0), 4)
  assert.deepEqual([await pass(0), await pass(0, { garbage: 5 })], [5, 5])
  isBusy = false
  // Work without end: there is no time for a pause.
  for (let check = 0; check < CHECKS_UNTIL_LATE; check += 1) await pass(6, { garbage: 1 })
  assert.deepEqual(times, { collected: 5, trimmed: 6, unmapped: 7 })
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
  assert.equal(clock.sleeping, 0)
})

test('runMemoryTrim() takes a thousandth of a core for garbage that comes back, eight times as much where it is much', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let [garbage, idleMs, tookMs] = [0, 0, 30]
  const collectedAt: number[] = []
  const deps = {
    clock,
    work: () => 0,
    idleCpuMs: () => idleMs,
    residentBytes: () => (50 + garbage) * 1e6,
    collectGarbage() {
      collectedAt.push(clock.monotonic() - startedAt)
      garbage = 0
      return tookMs
    },
    trimMalloc() {},
    unmapCode() {},
  }
  const startedAt = clock.monotonic()
  const running = runMemoryTrim(deps, stop.signal)
  const pass = async (seconds: number, megabytes: number) => {
    for (let check = 0; check < seconds / 5; check += 1) {
      garbage = megabytes
      idleMs += 5000
      await clock.advance(5000)
    }
    return collectedAt.splice(0).map((ms) => ms / 1000)
  }
  assert.deepEqual(await pass(200, 6), [5, 65, 125, 185])
  assert.deepEqual(await pass(30, 24), [205, 215, 225])
  // One that takes long is made later, but not for ever.
  tookMs = 1000
  assert.deepEqual(await pass(700, 6), [285, 585, 885])
  assert.deepEqual(await pass(100, 5), [])
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})

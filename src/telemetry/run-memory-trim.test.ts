import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../test/fakes/fake-clock.ts'
import { runMemoryTrim } from './run-memory-trim.ts'

const LOOKS_UNTIL_LATE = 60

test('runMemoryTrim() gives memory back once it is quiet and there is more than before, and now and then in any case', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let [done, garbage, used, times] = [0, 30, 50, 0]
  const giveBack = () => {
    times += 1
    garbage = 0
  }
  const residentBytes = () => (garbage + used) * 1e6
  const running = runMemoryTrim({ clock, work: () => done, residentBytes, giveBack }, stop.signal)
  const pass = async (work: number, grows: { garbage?: number; used?: number } = {}, looks = 1) => {
    done += work
    garbage += grows.garbage ?? 0
    used += grows.used ?? 0
    for (let look = 0; look < looks; look += 1) await clock.advance(5000)
    return times
  }
  // The start.
  assert.deepEqual([await pass(6), await pass(5), await pass(0)], [0, 1, 1])
  // A burst of work, with little garbage at first.
  assert.deepEqual([await pass(300, { garbage: 5 }), await pass(5), await pass(300, { garbage: 2 })], [1, 1, 1])
  assert.deepEqual([await pass(5), await pass(5)], [2, 2])
  // A crowd of callers, who are no work: what they hold is given back when they have been gone for a while.
  assert.deepEqual([await pass(0, { used: 40 }), await pass(0, { used: 2 }), await pass(0)], [3, 3, 3])
  assert.deepEqual([await pass(0, { used: -42, garbage: 40 }), await pass(0, {}, LOOKS_UNTIL_LATE)], [3, 4])
  // Work without end.
  assert.deepEqual([await pass(6, { garbage: 40 }), await pass(200, {}, 1)], [4, 4])
  for (let look = 0; look < LOOKS_UNTIL_LATE; look += 1) await pass(6)
  assert.equal(times, 5)
  assert.equal(await pass(0, {}, LOOKS_UNTIL_LATE / 2), 5)
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
  assert.equal(clock.sleeping, 0)
})

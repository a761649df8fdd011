import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../test/fakes/fake-clock.ts'
import { runMemoryTrim } from './run-memory-trim.ts'

test('runMemoryTrim() collects once after a burst, when it is quiet, and then not before the next', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let done = 0
  let collected = 0
  const running = runMemoryTrim({ clock, work: () => done, collect: () => (collected += 1) }, stop.signal)
  const pass = async (work: number) => {
    done += work
    await clock.advance(10_000)
    return collected
  }
  assert.deepEqual(
    [await pass(5), await pass(300), await pass(11), await pass(5), await pass(5), await pass(5)],
    [0, 0, 0, 1, 1, 1],
  )
  assert.deepEqual([await pass(250), await pass(0)], [1, 2])
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
  assert.equal(clock.sleeping, 0)
})

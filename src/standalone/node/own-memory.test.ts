import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { runMemoryTrim } from '../../base/telemetry/run-memory-trim.ts'
import { ownMemory } from './own-memory.ts'

const OBJECTS = 400_000
const BURST_BYTES = 50e6
const CHECK_MS = 5000
// Half a second of CPU time.
const MUCH_WORK = 10

/** Like the objects that come and go while pods are made. */
function makeObjects(): object[] {
  return Array.from({ length: OBJECTS }, (_, index) => ({ name: `pod-${index}`, labels: { app: `${index}` } }))
}

test('the memory of a burst goes back when the process rests, and not while it works', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  // Other processes of the machine are not ours to wait for.
  let freeMs = 0
  const running = runMemoryTrim({ ...ownMemory, idleCpuMs: () => (freeMs += CHECK_MS), clock }, stop.signal)
  // What tests before this one left would be room for the burst.
  ownMemory.collectGarbage()
  const [before, worked] = [ownMemory.residentBytes(), ownMemory.work()]
  let objects: object[] | undefined = makeObjects()
  const most = ownMemory.residentBytes()
  assert.ok(most - before > BURST_BYTES, `${before} then ${most}`)
  assert.equal(objects.length, OBJECTS)
  objects = undefined
  while (ownMemory.work() - worked < MUCH_WORK);
  await clock.advance(CHECK_MS)
  const kept = ownMemory.residentBytes()
  assert.ok(most - kept < BURST_BYTES / 2, `${most} then ${kept}`)
  await clock.advance(CHECK_MS)
  const left = ownMemory.residentBytes()
  assert.ok(most - left > BURST_BYTES, `${most} then ${left}`)
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
})

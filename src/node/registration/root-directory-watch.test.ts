import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { RootDirectoryWatch } from './root-directory-watch.ts'

test('RootDirectoryWatch says that nothing can be written: once in the log, and in an event that does not expire while that is so', async () => {
  const clock = new FakeClock()
  const events: string[] = []
  const lines: string[] = []
  const say = (message: string) => void lines.push(message)
  let failure: Error | undefined
  let changes = 0
  const watch = new RootDirectoryWatch({
    rootDirectory: '/root',
    checkWritable: async () => {
      if (failure !== undefined) throw failure
    },
    events: { record: ({ reason, message }) => void events.push(`${reason} ${message}`) },
    onChange: () => void (changes += 1),
    clock,
    log: { error: say, info: say } as unknown as Logger,
  })
  const stop = new AbortController()
  const running = watch.run(stop.signal)
  await clock.advance(60_000)
  assert.deepEqual([watch.problems(), events, changes], [[], [], 0])
  failure = new Error("EROFS: read-only file system, access '/root'")
  await clock.advance(10_000)
  const problem = "root directory is not writable: EROFS: read-only file system, access '/root'"
  assert.deepEqual(watch.problems(), [problem])
  await clock.advance(600_000)
  assert.deepEqual([...new Set(events)], [`RootDirectoryNotWritable ${problem}`])
  assert.equal(events.length, 11)
  failure = undefined
  await clock.advance(10_000)
  assert.deepEqual([watch.problems(), changes, lines.length], [[], 2, 2])
  stop.abort(new Error('enough'))
  await assert.rejects(running, /enough/)
  assert.equal(clock.sleeping, 0)
})

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { DeadlineError } from './abort-errors.ts'
import { withDeadline } from './deadline.ts'

function setUp() {
  const clock = new FakeClock()
  const parent = new AbortController()
  const options = { clock, ms: 1000, what: 'the work' }
  const assertClean = () => {
    assert.equal(clock.sleeping, 0)
    assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
  }
  return { clock, parent, options, assertClean }
}

describe('withDeadline()', () => {
  test('gives what the work gives, and leaves no timer', async () => {
    const { parent, options, assertClean } = setUp()
    assert.equal(await withDeadline(options, async () => 7, parent.signal), 7)
    assertClean()
  })

  test('passes on how the work failed', async () => {
    const { parent, options, assertClean } = setUp()
    const failure = new Error('no')
    await assert.rejects(
      withDeadline(options, () => Promise.reject(failure), parent.signal),
      failure,
    )
    assertClean()
  })

  test('ends work that is late, also when it does not listen, and names it', async () => {
    for (const listens of [true, false]) {
      const { clock, parent, options, assertClean } = setUp()
      let reason: unknown
      const work = (signal: AbortSignal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            if (listens) reject(signal.reason)
          })
        })
      const late = assert.rejects(withDeadline(options, work, parent.signal), (error: unknown) => {
        assert.ok(error instanceof DeadlineError)
        assert.equal(error.message, 'Cannot finish the work: no end after 1000 ms')
        assert.equal(reason, error)
        return true
      })
      await clock.advance(999)
      assert.equal(reason, undefined)
      await clock.advance(1)
      await late
      assertClean()
    }
  })

  test('ends with its parent, with the reason of that', async () => {
    const { clock, parent, options, assertClean } = setUp()
    const leave = new Error('leave')
    const work = withDeadline(options, (signal) => clock.sleep(10_000, signal), parent.signal)
    parent.abort(leave)
    await assert.rejects(work, leave)
    assertClean()
  })
})

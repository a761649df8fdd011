import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { RequestBudget } from './request-budget.ts'

const never = new AbortController().signal

/** How many of twenty requests are through at once, and after each of the next seconds. */
async function countThrough(options: { readonly qps: number; readonly burst: number }) {
  const clock = new FakeClock()
  const budget = new RequestBudget({ ...options, clock })
  let through = 0
  for (let request = 0; request < 20; request += 1) void budget.take(never).then(() => (through += 1))
  const counts: number[] = []
  for (let second = 0; second < 3; second += 1) {
    await clock.advance(second === 0 ? 0 : 1000)
    counts.push(through)
  }
  return counts
}

describe('RequestBudget', () => {
  const rows: readonly [string, { readonly qps: number; readonly burst: number }, readonly number[]][] = [
    ['a burst at once, then the rate', { qps: 2, burst: 4 }, [4, 6, 8]],
    ['0 is the usual rate', { qps: 0, burst: 0 }, [10, 15, 20]],
    ['below 0 there is no limit', { qps: -1, burst: 1 }, [20, 20, 20]],
    ['less than one a second', { qps: 0.5, burst: 1 }, [1, 1, 2]],
  ]
  for (const [name, options, expected] of rows) {
    test(name, async () => assert.deepEqual(await countThrough(options), expected))
  }

  test('a caller that gives up leaves its turn to others', async () => {
    const clock = new FakeClock()
    const budget = new RequestBudget({ qps: 1, burst: 1, clock })
    await budget.take(never)
    const impatient = new AbortController()
    const waiting = budget.take(impatient.signal)
    impatient.abort(new Error('no time'))
    await assert.rejects(waiting, /no time/)
    const next = budget.take(never)
    await clock.advance(1000)
    assert.equal(await next, 1000)
    assert.equal(clock.sleeping, 0)
  })
})

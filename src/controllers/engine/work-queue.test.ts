import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { WorkQueue } from './work-queue.ts'
import type { NextTurn } from './work-queue.ts'

function setUp(handle: (key: string) => Promise<NextTurn>) {
  const clock = new FakeClock()
  const failures: string[] = []
  const queue = new WorkQueue({ clock, onFailure: (key) => void failures.push(key) })
  const over = new AbortController()
  const running = queue.run(handle, over.signal).catch(() => {})
  const stop = async () => {
    over.abort(new Error('over'))
    await running
  }
  return { queue, clock, failures, stop }
}

describe('WorkQueue', () => {
  test('handles a key once at a time, and once more when it was added meanwhile', async () => {
    const steps: string[] = []
    let release = Promise.withResolvers<void>()
    const { queue, clock, stop } = setUp(async (key) => {
      steps.push(`begin ${key}`)
      await release.promise
      steps.push(`end ${key}`)
      return undefined
    })
    queue.add('a')
    await clock.advance(0)
    queue.add('a')
    queue.add('a')
    queue.add('b')
    await clock.advance(0)
    assert.deepEqual(steps, ['begin a', 'begin b'])
    release.resolve()
    release = Promise.withResolvers()
    release.resolve()
    await clock.advance(0)
    assert.deepEqual(steps, ['begin a', 'begin b', 'end a', 'end b', 'begin a', 'end a'])
    await stop()
    assert.equal(clock.sleeping, 0)
  })

  test('waits longer after each failure, and begins again after a success', async () => {
    const times: number[] = []
    let isBroken = true
    const { queue, clock, failures, stop } = setUp(async () => {
      times.push(clock.monotonic())
      if (isBroken) throw new Error('broken')
      return undefined
    })
    const begin = clock.monotonic()
    queue.add('a')
    await clock.advance(40)
    assert.deepEqual(
      times.map((time) => time - begin),
      [0, 5, 15, 35],
    )
    isBroken = false
    await clock.advance(1000)
    assert.equal(failures.length, 4)
    assert.equal(times.length, 5)
    await stop()
  })

  test('comes back when a turn asks for it', async () => {
    let turns = 0
    const { queue, clock, stop } = setUp(async () => {
      turns += 1
      return turns === 1 ? { afterMs: 1000 } : undefined
    })
    queue.add('a')
    await clock.advance(999)
    assert.equal(turns, 1)
    await clock.advance(5000)
    assert.equal(turns, 2)
    await stop()
  })
})

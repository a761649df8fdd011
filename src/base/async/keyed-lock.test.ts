import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { KeyedLock } from './keyed-lock.ts'

const never = new AbortController().signal

describe('KeyedLock', () => {
  test('lets one through at a time for each key, in order, and forgets the key at the end', async () => {
    const lock = new KeyedLock()
    const journal: string[] = []
    const work = (name: string) => async () => {
      journal.push(`begin ${name}`)
      await setImmediate()
      journal.push(`end ${name}`)
    }
    await Promise.all([
      lock.hold('a', work('a1'), never),
      lock.hold('a', work('a2'), never),
      lock.hold('b', work('b1'), never),
    ])
    assert.deepEqual(journal, ['begin a1', 'begin b1', 'end a1', 'begin a2', 'end b1', 'end a2'])
    await setImmediate()
    assert.equal(lock.size, 0)
  })

  test('goes on after a failure', async () => {
    const lock = new KeyedLock()
    await assert.rejects(
      lock.hold('a', () => Promise.reject(new Error('planned')), never),
      /planned/,
    )
    assert.equal(await lock.hold('a', async () => 1, never), 1)
  })

  test('a waiter that gives up lets no other in early', async () => {
    const lock = new KeyedLock()
    const first = Promise.withResolvers<void>()
    const journal: string[] = []
    const running = lock.hold('a', () => first.promise.then(() => void journal.push('first')), never)
    const impatient = new AbortController()
    const waiting = lock.hold('a', async () => void journal.push('impatient'), impatient.signal)
    const last = lock.hold('a', async () => void journal.push('last'), never)
    impatient.abort(new Error('no time'))
    await assert.rejects(waiting, /no time/)
    assert.deepEqual(journal, [])
    first.resolve()
    await Promise.all([running, last])
    assert.deepEqual(journal, ['first', 'last'])
  })
})

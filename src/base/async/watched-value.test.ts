import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WatchedValue } from './watched-value.ts'

const never = new AbortController().signal

describe('WatchedValue', () => {
  test('does not wait for what is reached already', async () => {
    await new WatchedValue(3).until((value) => value >= 3, never)
  })

  test('wakes those whose value is reached, and no others', async () => {
    const value = new WatchedValue(0)
    const woken: string[] = []
    const one = value.until((n) => n >= 1, never).then(() => woken.push('one'))
    const two = value.until((n) => n >= 2, never).then(() => woken.push('two'))
    value.set(1)
    await one
    assert.deepEqual([woken, value.value], [['one'], 1])
    value.set(2)
    await two
    assert.deepEqual(woken, ['one', 'two'])
  })

  test('does not miss a value that lasts for a moment only', async () => {
    const value = new WatchedValue('before')
    const reached = value.until((now) => now === 'there', never)
    value.set('there')
    value.set('after')
    await reached
  })

  test('gives up with the reason of the signal', async () => {
    const stop = new AbortController()
    const reached = new WatchedValue(0).until(() => false, stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(reached, { message: 'enough' })
  })
})

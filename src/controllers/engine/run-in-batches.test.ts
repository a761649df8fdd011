import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInBatches } from './run-in-batches.ts'

describe('runInBatches()', () => {
  test('begins with one, and doubles', async () => {
    let running = 0
    const peaks: number[] = []
    const { done, error } = await runInBatches(10, async () => {
      running += 1
      await Promise.resolve()
      peaks.push(running)
      await new Promise(setImmediate)
      running -= 1
    })
    assert.deepEqual([done, error, Math.max(...peaks)], [10, undefined, 4])
    assert.equal(peaks[0], 1)
  })

  test('what fails for one is not tried for all: one attempt, and the next pass begins with one again', async () => {
    let attempts = 0
    const refuse = async () => {
      attempts += 1
      throw new Error('exceeded quota')
    }
    const { done, error } = await runInBatches(500, refuse)
    assert.deepEqual([done, attempts, String(error)], [0, 1, 'Error: exceeded quota'])
  })

  test('the batch of a failure is finished', async () => {
    const made: number[] = []
    const { done } = await runInBatches(20, async (index) => {
      if (index === 4) throw new Error('refused')
      made.push(index)
    })
    assert.deepEqual([done, made], [6, [0, 1, 2, 3, 5, 6]])
  })
})

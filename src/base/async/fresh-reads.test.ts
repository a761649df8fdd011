import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FreshReads } from './fresh-reads.ts'

test('FreshReads gives every caller a read that began after its call, and shares as many as possible', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }), async (gaps) => {
      let began = 0
      const reads = new FreshReads<string, number>(async () => {
        began += 1
        const mine = began
        await setImmediate()
        return mine
      })
      const answers: Promise<void>[] = []
      for (const gap of gaps) {
        const before = began
        answers.push(reads.read('k').then((read) => assert.ok(read > before, 'a stale read')))
        for (let turn = 0; turn < gap; turn += 1) await setImmediate()
      }
      await Promise.all(answers)
      assert.ok(began <= gaps.length)
    }),
  )
})

test('FreshReads reads again after a failure', async () => {
  let tries = 0
  const reads = new FreshReads<string, number>(async () => {
    tries += 1
    await setImmediate()
    if (tries === 1) throw new Error('first')
    return tries
  })
  const first = reads.read('k')
  const second = reads.read('k')
  await assert.rejects(first, /first/)
  assert.equal(await second, 2)
})

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { waitForShared } from './wait-for-shared.ts'

const endless = new Promise<never>(() => {})

describe('waitForShared()', () => {
  test('gives the result, or the failure', async () => {
    const { signal } = new AbortController()
    assert.equal(await waitForShared(Promise.resolve(7), signal), 7)
    await assert.rejects(waitForShared(Promise.reject(new Error('no')), signal), /no/)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  test('ends with the signal, also with one that has aborted before', async () => {
    const controller = new AbortController()
    const waiting = assert.rejects(waitForShared(endless, controller.signal), /enough/)
    controller.abort(new Error('enough'))
    await waiting
    await assert.rejects(waitForShared(endless, controller.signal), /enough/)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })
})

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { AbortScope } from './abort-scope.ts'

describe('AbortScope', () => {
  test('aborts with its parent and its reason', () => {
    const parent = new AbortController()
    using scope = new AbortScope(parent.signal)
    assert.equal(scope.signal.aborted, false)
    const reason = new Error('leave')
    parent.abort(reason)
    assert.equal(scope.signal.reason, reason)
  })

  test('is aborted from the start when its parent is', () => {
    const reason = new Error('over')
    using scope = new AbortScope(AbortSignal.abort(reason))
    assert.equal(scope.signal.reason, reason)
  })

  test('aborts alone and keeps its first reason', () => {
    const parent = new AbortController()
    using scope = new AbortScope(parent.signal)
    const reason = new Error('mine')
    scope.abort(reason)
    parent.abort(new Error('later'))
    assert.equal(scope.signal.reason, reason)
  })

  test('ends with its block, and its parent keeps nothing of it', () => {
    const parent = new AbortController()
    let signal: AbortSignal
    {
      using scope = new AbortScope(parent.signal)
      signal = scope.signal
      assert.equal(getEventListeners(parent.signal, 'abort').length, 1)
    }
    assert.equal(signal.aborted, true)
    assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
    assert.equal(parent.signal.aborted, false)
  })
})

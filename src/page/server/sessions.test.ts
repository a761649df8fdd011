import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../base/async/clock.ts'
import { SESSION_IDLE_MS, SESSION_LASTS_MS, Sessions } from './sessions.ts'

function createSessions() {
  let now = 0
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.reject(new Error('unused')) }
  return { sessions: new Sessions(clock), pass: (ms: number) => (now += ms) }
}

describe('Sessions', () => {
  test('one that is not used ends, and says so', () => {
    const { sessions, pass } = createSessions()
    const cookie = sessions.begin('reader')
    const key = sessions.takeKey(cookie)
    pass(SESSION_IDLE_MS - 1)
    const session = sessions.find(cookie, key)
    assert.equal(session?.identity, 'reader')
    pass(SESSION_IDLE_MS)
    assert.equal(sessions.find(cookie, key), undefined)
    assert.equal(session?.ended.aborted, true)
  })

  test('one that is used all the time ends all the same', () => {
    const { sessions, pass } = createSessions()
    const cookie = sessions.begin('admin')
    const key = sessions.takeKey(cookie)
    for (let passed = 0; passed + SESSION_IDLE_MS / 2 < SESSION_LASTS_MS; passed += SESSION_IDLE_MS / 2) {
      assert.ok(sessions.find(cookie, key))
      pass(SESSION_IDLE_MS / 2)
    }
    pass(SESSION_IDLE_MS / 2)
    assert.equal(sessions.find(cookie, key), undefined)
  })

  test('there are never more than 32: the one used longest ago goes', () => {
    const { sessions, pass } = createSessions()
    const cookies = Array.from({ length: 33 }, () => {
      pass(1)
      return sessions.begin('admin')
    })
    assert.equal(sessions.takeKey(cookies[0]), undefined)
    assert.notEqual(sessions.takeKey(cookies[1]), undefined)
  })
})

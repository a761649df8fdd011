import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toApiMicroTime, toApiTime } from './api-time.ts'

test('toApiTime() has whole seconds, toApiMicroTime() microseconds', () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
  assert.deepEqual([toApiTime(ms), toApiMicroTime(ms)], ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678000Z'])
  assert.equal(toApiTime(ms + 0.9), '2026-01-02T03:04:05Z')
})

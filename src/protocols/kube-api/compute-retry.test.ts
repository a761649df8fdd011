import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeRetry } from './compute-retry.ts'
import type { FailedAttempt } from './compute-retry.ts'

const refused = (code: number, retryAfterSeconds?: number): FailedAttempt => ({
  kind: 'refused',
  code,
  retryAfterSeconds,
})
const broken: FailedAttempt = { kind: 'broken' }
const notStarted: FailedAttempt = { kind: 'not started' }

describe('computeRetry()', () => {
  const rows: readonly [string, FailedAttempt, string, number, number | undefined][] = [
    ['too many requests, with a time', refused(429, 3), 'POST', 1, 3000],
    ['too many requests, at once', refused(429, 0), 'PATCH', 1, 0],
    ['too many requests, without a time', refused(429), 'GET', 1, undefined],
    ['too many requests, far away', refused(429, 3600), 'GET', 1, undefined],
    ['too many requests for the tenth time', refused(429, 1), 'GET', 10, 1000],
    ['too many requests once more', refused(429, 1), 'GET', 11, undefined],
    ['unavailable, with a time', refused(503, 1), 'POST', 1, 1000],
    ['a timeout inside the server, of a read', refused(504, 1), 'GET', 1, 1000],
    ['a timeout inside the server, of a change', refused(504, 1), 'PATCH', 1, 1000],
    ['a timeout inside the server, of a creation that may be done', refused(504, 1), 'POST', 1, undefined],
    ['an error without a time', refused(500), 'GET', 1, undefined],
    ['a refusal', refused(403, 1), 'GET', 1, undefined],
    ['a broken read', broken, 'GET', 1, 1000],
    ['a broken change', broken, 'PATCH', 1, undefined],
    ['a broken creation', broken, 'POST', 1, undefined],
    ['a creation that never began', notStarted, 'POST', 1, 0],
    ['a creation that never began, again and again', notStarted, 'POST', 4, undefined],
    ['nonsense', { kind: 'other' }, 'GET', 1, undefined],
  ]
  for (const [name, failure, method, attempt, expected] of rows) {
    test(name, () => assert.equal(computeRetry(failure, { method, attempt, chance: 0.5 }), expected))
  }
})

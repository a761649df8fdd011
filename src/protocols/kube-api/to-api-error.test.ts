import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toApiError } from './to-api-error.ts'

const what = 'GET "/api/v1/nodes/a"'

describe('toApiError()', () => {
  const rows: readonly [string, { code: number; text: string; retryAfter?: string }, object][] = [
    [
      'takes the words of a Status',
      { code: 404, text: '{"kind":"Status","code":404,"reason":"NotFound","message":"nodes \\"a\\" not found"}' },
      { message: 'nodes "a" not found', code: 404, reason: 'NotFound', retryAfterSeconds: undefined },
    ],
    [
      'takes the time of the header before that of the Status',
      {
        code: 429,
        text: '{"kind":"Status","reason":"TooManyRequests","message":"slow","details":{"retryAfterSeconds":9}}',
        retryAfter: '2',
      },
      { message: 'slow', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 2 },
    ],
    [
      'takes the time of the Status without a header that counts seconds',
      {
        code: 500,
        text: '{"kind":"Status","message":"x","details":{"retryAfterSeconds":9}}',
        retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT',
      },
      { message: 'x', code: 500, reason: '', retryAfterSeconds: 9 },
    ],
    [
      'makes do with a page',
      { code: 503, text: '<html>busy</html>\n' },
      {
        message: `Cannot ${what}: the server answered with status 503: <html>busy</html>`,
        code: 503,
        reason: 'ServiceUnavailable',
        retryAfterSeconds: undefined,
      },
    ],
    [
      'makes do with nothing',
      { code: 418, text: '' },
      {
        message: `Cannot ${what}: the server answered with status 418`,
        code: 418,
        reason: '',
        retryAfterSeconds: undefined,
      },
    ],
  ]
  for (const [name, answer, expected] of rows) {
    test(name, () => {
      const { message, code, reason, retryAfterSeconds } = toApiError({ what, retryAfter: undefined, ...answer })
      assert.deepEqual({ message, code, reason, retryAfterSeconds }, expected)
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GrpcCallError, toGrpcCallError } from './grpc-call-error.ts'

describe('toGrpcCallError()', () => {
  test('says what gRPC said, without the announcement of a note that is empty', () => {
    for (const [error, failure] of [
      [
        { code: 5, details: 'no such volume' },
        { code: 'NotFound', detail: 'no such volume' },
      ],
      [
        { code: 14, details: 'No connection established. Last error: gone. Resolution note: ' },
        { code: 'Unavailable', detail: 'No connection established. Last error: gone' },
      ],
      [
        { code: 14, details: 'No connection. Resolution note: no address' },
        { code: 'Unavailable', detail: 'No connection. Resolution note: no address' },
      ],
      [new Error('broken'), { code: 'Unknown', detail: 'broken' }],
      [
        { code: 99, details: '', message: 'odd' },
        { code: 'Unknown', detail: 'odd' },
      ],
    ] as const) {
      const { method, code, detail, message, cause } = toGrpcCallError('Get', error)
      assert.deepEqual({ code, detail }, failure)
      assert.deepEqual([method, message, cause], ['Get', `Cannot call "Get": ${code}: ${detail}`, error])
    }
  })

  test('leaves our own error as it is', () => {
    const error = new GrpcCallError({ method: 'Get', code: 'NotFound', detail: 'no such volume' })
    assert.equal(toGrpcCallError('List', error), error)
  })
})

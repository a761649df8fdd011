import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toGrpcFailure } from './grpc-code.ts'

test('toGrpcFailure() says what gRPC said, without the announcement of a note that is empty', () => {
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
    assert.deepEqual(toGrpcFailure(error), failure)
  }
})

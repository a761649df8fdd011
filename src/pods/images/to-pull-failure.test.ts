import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { CallErrorCode } from '../../protocols/grpc/grpc-call-error.ts'
import { toPullFailure } from './to-pull-failure.ts'

test('toPullFailure() says what users know', () => {
  const rows: [CallErrorCode, string, string, string][] = [
    ['Unknown', 'no route', 'ErrImagePull', 'no route'],
    ['NotFound', 'no such tag', 'ErrImagePull', 'rpc error: code = NotFound desc = no such tag'],
    ['Cancelled', 'enough', 'ErrImagePull', 'rpc error: code = Canceled desc = enough'],
    ['InvalidReply', 'reply lacks image_ref', 'ErrImagePull', 'reply lacks image_ref'],
    [
      'Unknown',
      'RegistryUnavailable',
      'RegistryUnavailable',
      'image pull failed for a:1 because the registry is unavailable',
    ],
    [
      'Unknown',
      'SignatureValidationFailed: no key',
      'SignatureValidationFailed',
      'image pull failed for a:1 because the signature validation failed: no key',
    ],
  ]
  const found = rows.map(([code, detail]) => {
    const { reason, message } = toPullFailure('a:1', new CriCallError('pullImage', code, detail))
    return [code, detail, reason, message]
  })
  assert.deepEqual(found, rows)
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CriCallError, toCriCallError } from './cri-call-error.ts'

describe('toCriCallError()', () => {
  const rows = [
    ['containerStatus', { code: 5, details: 'no such id' }, 'NotFound', 'no such id', undefined, false],
    ['version', { code: 14, details: 'connect ENOENT' }, 'Unavailable', 'connect ENOENT', undefined, true],
    ['execSync', { code: 1, details: 'stopping' }, 'Cancelled', 'stopping', undefined, true],
    ['execSync', { code: 4, details: 'late' }, 'DeadlineExceeded', 'late', undefined, true],
    [
      'pullImage',
      { code: 2, details: 'RegistryUnavailable: 503' },
      'Unknown',
      'RegistryUnavailable: 503',
      'RegistryUnavailable',
      false,
    ],
    [
      'pullImage',
      { code: 2, details: 'SignatureValidationFailed' },
      'Unknown',
      'SignatureValidationFailed',
      'SignatureValidationFailed',
      false,
    ],
    [
      'createContainer',
      { code: 2, details: 'ImageVolumeMountFailed: x' },
      'Unknown',
      'ImageVolumeMountFailed: x',
      'ImageVolumeMountFailed',
      false,
    ],
    [
      'pullImage',
      { code: 2, details: 'RegistryUnavailableToday' },
      'Unknown',
      'RegistryUnavailableToday',
      undefined,
      false,
    ],
    [
      'updatePodSandboxResources',
      { code: 2, details: 'not implemented' },
      'Unimplemented',
      'not implemented',
      undefined,
      false,
    ],
    ['execSync', { code: 2, details: 'not implemented' }, 'Unknown', 'not implemented', undefined, false],
    ['status', { code: 99, details: 'odd' }, 'Unknown', 'odd', undefined, false],
    ['status', new TypeError('bad bytes'), 'Unknown', 'bad bytes', undefined, false],
  ] as const
  for (const [method, thrown, code, detail, reason, retryable] of rows) {
    test(`${method} failing with ${JSON.stringify(thrown)} is ${code}`, () => {
      const error = toCriCallError(method, thrown)
      assert.deepEqual(
        {
          method: error.method,
          code: error.code,
          detail: error.detail,
          reason: error.reason,
          retryable: error.retryable,
        },
        { method, code, detail, reason, retryable },
      )
      assert.equal(error.message, `Cannot call "${method}": ${code}: ${detail}`)
      assert.equal(error.cause, thrown)
    })
  }

  test('leaves our own error as it is', () => {
    const error = new CriCallError('version', 'InvalidReply', 'no version')
    assert.equal(toCriCallError('status', error), error)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findRegistrationFault } from './find-registration-fault.ts'

describe('findRegistrationFault()', () => {
  for (const resource of ['example.com/gpu', 'a/B_c.d-1', `${'x'.repeat(244)}/y`]) {
    test(`lets "${resource.slice(0, 20)}" in`, () => {
      assert.equal(findRegistrationFault({ resource, versions: ['v1alpha', 'v1beta1'] }), undefined)
    })
  }
  for (const resource of [
    'cpu',
    '',
    'kubernetes.io/gpu',
    'sub.kubernetes.io/gpu',
    'requests.example.com/gpu',
    'example.com/gpu/1',
    'Example.com/gpu',
    'example.com/-gpu',
    `example.com/${'x'.repeat(64)}`,
    `${'x'.repeat(245)}/y`,
  ]) {
    test(`rejects "${resource.slice(0, 40)}"`, () => {
      assert.equal(
        findRegistrationFault({ resource, versions: ['v1beta1'] }),
        `the ResourceName "${resource}" is invalid`,
      )
    })
  }

  test('rejects other versions', () => {
    assert.equal(
      findRegistrationFault({ resource: 'example.com/gpu', versions: ['v1', 'v2'] }),
      'requested API version "v1, v2" is not supported by kubelet. Supported version is ["v1beta1"]',
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseApiVersion, hasApi, isVersionRefusal } from './api-version.ts'

describe('the version of the API', () => {
  test('is the newest that both know', () => {
    assert.equal(chooseApiVersion('1.41'), '1.41')
    assert.equal(chooseApiVersion('1.48'), '1.48')
    assert.equal(chooseApiVersion('1.99'), '1.52')
  })

  test('is refused when it is too old or unknown', () => {
    assert.throws(() => chooseApiVersion('1.40'), /expected at least 1.41 \(Docker Engine 20.10\)/)
    assert.throws(() => chooseApiVersion(''), /does not say which version/)
  })

  test('is compared as numbers', () => {
    assert.deepEqual([hasApi('1.100', '1.44'), hasApi('1.44', '1.44'), hasApi('1.5', '1.44')], [true, true, false])
  })

  test('is asked for again when Docker no longer takes it', () => {
    const message = 'client version 1.24 is too old. Minimum supported API version is 1.44, please upgrade your client'
    assert.ok(isVersionRefusal(400, message))
    assert.ok(!isVersionRefusal(400, 'bad parameter'))
  })
})

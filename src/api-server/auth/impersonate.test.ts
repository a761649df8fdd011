import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../api-error.ts'
import { impersonate } from './impersonate.ts'

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] }
const jane = { name: 'jane', groups: ['system:authenticated'] }

describe('impersonate()', () => {
  test('a request without such headers is the sender’s', () => {
    assert.equal(impersonate(jane, { accept: '*/*' }), jane)
  })

  for (const header of ['impersonate-user', 'impersonate-group', 'impersonate-uid', 'impersonate-extra-a']) {
    test(`only an administrator may send ${header}`, () => {
      assert.throws(
        () => impersonate(jane, { [header]: 'system:masters' }),
        (error) =>
          error instanceof ApiError && error.status.code === 403 && error.message.includes('only administrators may'),
      )
    })
  }

  test('an administrator acts as another, with nothing left of the own rights', () => {
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-group': 'a, b',
      'impersonate-uid': '1',
      'impersonate-extra-x%2fy': 'z',
    }
    assert.deepEqual(impersonate(admin, headers), {
      name: 'jane',
      uid: '1',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'x/y': ['z'] },
    })
  })

  test('a service account comes with its groups', () => {
    assert.deepEqual(impersonate(admin, { 'impersonate-user': 'system:serviceaccount:shop:cashier' }).groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:shop',
      'system:authenticated',
    ])
  })

  test('groups without a user are rejected', () => {
    assert.throws(() => impersonate(admin, { 'impersonate-group': 'a' }), /must name a user/)
  })
})

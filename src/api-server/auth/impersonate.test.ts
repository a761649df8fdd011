import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { impersonate } from './impersonate.ts'

const jane = { name: 'jane', groups: ['system:authenticated'] }
const of = (headers: Readonly<Record<string, string>>) => {
  const { user, needed = [] } = impersonate(jane, headers) ?? {}
  const rights = needed.map(({ group, resource, subresource, namespace, name }) =>
    [group, resource, subresource, namespace, name].join('|'),
  )
  assert.ok(needed.every((each) => each.user === jane && each.verb === 'impersonate' && each.isResource))
  return { user, rights }
}

describe('impersonate()', () => {
  test('a request without such headers is the sender’s', () => {
    assert.equal(impersonate(jane, { accept: '*/*' }), undefined)
  })

  test('a user, groups, a UID and each extra value are a right of their own', () => {
    const headers = {
      'impersonate-user': 'joe',
      'impersonate-group': 'a, b',
      'impersonate-uid': '1',
      'impersonate-extra-x%2fy': 'z',
    }
    const { user, rights } = of(headers)
    // Nothing of the sender's own rights is left.
    assert.deepEqual(user, {
      name: 'joe',
      uid: '1',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'x/y': ['z'] },
    })
    assert.deepEqual(rights, [
      '|users|||joe',
      '|groups|||a',
      '|groups|||b',
      'authentication.k8s.io|userextras|x/y||z',
      'authentication.k8s.io|uids|||1',
    ])
  })

  test('the group of administrators is a right as that of any group', () => {
    assert.deepEqual(of({ 'impersonate-user': 'joe', 'impersonate-group': 'system:masters' }).rights, [
      '|users|||joe',
      '|groups|||system:masters',
    ])
  })

  test('a service account comes with its groups, and is a right in its namespace', () => {
    const { user, rights } = of({ 'impersonate-user': 'system:serviceaccount:shop:cashier' })
    assert.deepEqual(user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'])
    assert.deepEqual(rights, ['|serviceaccounts||shop|cashier'])
  })

  test('groups without a user are rejected', () => {
    for (const header of ['impersonate-group', 'impersonate-uid', 'impersonate-extra-a']) {
      assert.throws(() => impersonate(jane, { [header]: 'a' }), /must name a user/)
    }
  })
})

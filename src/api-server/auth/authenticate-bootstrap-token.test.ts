import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { authenticateBootstrapToken, isLikelyBootstrapToken } from './authenticate-bootstrap-token.ts'

const NOW = Date.UTC(2026, 0, 1)
const TOKEN = 'abcdef.0123456789abcdef'
const good = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}

function authenticate(token: string, data: Readonly<Record<string, string>> = good, secret: object = {}) {
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  const object = {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: encoded,
    ...secret,
  }
  return authenticateBootstrapToken(token, createFakeObjects({ secrets: [object] }), NOW)
}

describe('authenticateBootstrapToken()', () => {
  test('stands for a node to be', () => {
    assert.deepEqual(authenticate(TOKEN), {
      user: { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] },
    })
  })

  test('has the groups that its secret gives it', () => {
    const { user } = authenticate(TOKEN, {
      ...good,
      'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b-1',
    })
    assert.deepEqual(user?.groups, [
      'system:bootstrappers',
      'system:bootstrappers:a',
      'system:bootstrappers:b-1',
      'system:authenticated',
    ])
  })

  test('is good until its end', () => {
    assert.ok(authenticate(TOKEN, { ...good, expiration: '2026-01-01T00:00:01Z' }).user)
  })

  const rows: readonly (readonly [name: string, result: ReturnType<typeof authenticate>, fault: RegExp])[] = [
    ['a wrong secret', authenticate('abcdef.0123456789abcdee'), /no such bootstrap token/],
    ['an unknown one', authenticate('xxxxxx.0123456789abcdef'), /no such bootstrap token/],
    ['another form', authenticate('abcdef'), /no such bootstrap token/],
    ['an empty secret', authenticate(TOKEN, { ...good, 'token-secret': '' }), /no such bootstrap token/],
    ['a secret of another type', authenticate(TOKEN, good, { type: 'Opaque' }), /not of the type/],
    ['a secret for another token', authenticate(TOKEN, { ...good, 'token-id': 'aaaaaa' }), /for another one/],
    ['one that has expired', authenticate(TOKEN, { ...good, expiration: '2026-01-01T00:00:00Z' }), /expired/],
    ['an end that cannot be read', authenticate(TOKEN, { ...good, expiration: 'soon' }), /expired/],
    [
      'one that is only for signing',
      authenticate(TOKEN, { ...good, 'usage-bootstrap-authentication': 'false' }),
      /not for authentication/,
    ],
    ['groups of others', authenticate(TOKEN, { ...good, 'auth-extra-groups': 'system:masters' }), /may not have/],
    [
      'one that is being deleted',
      authenticate(TOKEN, good, {
        metadata: {
          name: 'bootstrap-token-abcdef',
          namespace: 'kube-system',
          deletionTimestamp: '2026-01-01T00:00:00Z',
        },
      }),
      /deleted/,
    ],
    [
      'a secret elsewhere',
      authenticate(TOKEN, good, { metadata: { name: 'bootstrap-token-abcdef', namespace: 'default' } }),
      /no such/,
    ],
  ]
  for (const [name, { user, fault }, pattern] of rows) {
    test(`rejects ${name}`, () => {
      assert.equal(user, undefined)
      assert.match(fault ?? '', pattern)
    })
  }

  test('is recognized by its form', () => {
    const rows = [TOKEN, 'ABCDEF.0123456789abcdef', `${TOKEN}\n`, 'abcdef.0123456789abcde', 'a.b.c']
    assert.deepEqual(rows.map(isLikelyBootstrapToken), [true, false, false, false, false])
  })
})

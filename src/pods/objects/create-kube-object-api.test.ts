import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import { createKubeObjectApi } from './create-kube-object-api.ts'

const never = new AbortController().signal
const account = { namespace: 'shop', name: 'robot' }
const spec = {
  audiences: ['vault'],
  expirationSeconds: 600,
  boundObject: { kind: 'Pod', name: 'web', uid: 'u1' },
  accountUid: 'sa1',
} as const
const notFound = new KubeApiError('not found', { code: 404, reason: 'NotFound' })

/** An API over a client that answers as the test says. */
function setUp(answer: (request: KubeRequest) => unknown) {
  const requests: KubeRequest[] = []
  const client: KubeClient = {
    async send<T>(request: KubeRequest) {
      requests.push(request)
      return answer(request) as T
    },
    watch: () => assert.fail('nothing is watched'),
  }
  const api = createKubeObjectApi({ client, clock: new FakeClock(), random: () => 0, log: silentLogger })
  return { api, requests }
}

describe('createKubeObjectApi()', () => {
  test('asks for one object, from memory only when that will do', async () => {
    const { api, requests } = setUp(() => ({}))
    await api.get('ConfigMap', { namespace: 'shop', name: 'a' }, { cached: true }, never)
    await api.get('PersistentVolume', { namespace: '', name: 'b' }, { cached: false }, never)
    await api.get('ServiceAccount', account, { cached: false }, never)
    assert.deepEqual(requests, [
      { method: 'GET', path: '/api/v1/namespaces/shop/configmaps/a', query: { resourceVersion: '0' } },
      { method: 'GET', path: '/api/v1/persistentvolumes/b', query: {} },
      { method: 'GET', path: '/api/v1/namespaces/shop/serviceaccounts/robot', query: {} },
    ])
  })

  const failures: readonly [Error, string][] = [
    [notFound, 'NotFound'],
    [new KubeApiError('no', { code: 403, reason: 'Forbidden' }), 'Forbidden'],
    [new KubeApiError('busy', { code: 429, reason: 'TooManyRequests' }), 'Unavailable'],
    [new KubeApiError('confused', { code: 500, reason: '' }), 'Unavailable'],
    [new KubeApiError('what', { code: 400, reason: 'BadRequest' }), 'Other'],
    [new KubeUnreachableError('away'), 'Unavailable'],
  ]
  for (const [failure, reason] of failures) {
    test(`says ${reason} for "${failure.message}"`, async () => {
      const { api } = setUp(() => {
        throw failure
      })
      await assert.rejects(api.get('Secret', account, { cached: false }, never), {
        name: 'ObjectError',
        reason,
        message: failure.message,
      })
    })
  }

  test('asks for a token with all that it is bound to, and takes the life that the server gives', async () => {
    const { api, requests } = setUp(() => ({
      spec: { expirationSeconds: 3600 },
      status: { token: 't', expirationTimestamp: '2026-01-01T01:00:00Z' },
    }))
    assert.deepEqual(await api.createToken(account, spec, never), {
      token: 't',
      expiresAt: Date.UTC(2026, 0, 1, 1),
      lifeSeconds: 3600,
    })
    assert.deepEqual(requests, [
      {
        method: 'POST',
        path: '/api/v1/namespaces/shop/serviceaccounts/robot/token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: { uid: 'sa1' },
          spec: {
            audiences: ['vault'],
            expirationSeconds: 600,
            boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
          },
        },
      },
    ])
  })

  test('distinguishes an account that is missing from a server that gives no tokens', async () => {
    const answers = (hasAccount: boolean) => (request: KubeRequest) => {
      if (request.method === 'GET' && hasAccount) return {}
      throw notFound
    }
    await assert.rejects(setUp(answers(false)).api.createToken(account, spec, never), { reason: 'NotFound' })
    await assert.rejects(setUp(answers(true)).api.createToken(account, spec, never), {
      reason: 'Other',
      message: 'the API server does not have TokenRequest endpoints enabled',
    })
  })

  test('refuses an answer without a token', async () => {
    const { api } = setUp(() => ({ status: { token: 't' } }))
    await assert.rejects(api.createToken(account, spec, never), {
      name: 'ObjectError',
      message: 'Cannot have a token of service account "robot": the answer has none with an end',
    })
  })
})

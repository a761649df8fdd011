import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeObjectApi } from '../../../test/fakes/fake-object-api.ts'
import { ObjectError } from './object-api.ts'
import { ServiceAccounts } from './service-accounts.ts'

const never = new AbortController().signal
const pod = createPod({ spec: { serviceAccountName: 'robot' } })

function setUp(isKnown = true) {
  const api = new FakeObjectApi(new FakeClock())
  const accounts = new ServiceAccounts({ api, isKnown: () => isKnown })
  const put = (role: string) =>
    api.put('ServiceAccount', { metadata: { namespace: 'shop', name: 'robot', annotations: { role } } })
  const role = async () => (await accounts.get(pod, never)).metadata?.annotations?.['role']
  return { api, accounts, put, role }
}

const away = new ObjectError('Unavailable', 'the API server is away')

describe('ServiceAccounts', () => {
  test('asks each time', async () => {
    const { api, put, role } = setUp()
    put('one')
    assert.equal(await role(), 'one')
    put('two')
    assert.equal(await role(), 'two')
    assert.deepEqual(api.calls, ['get ServiceAccount shop/robot', 'get ServiceAccount shop/robot'])
  })

  test('gives a pod the one it had last while the API server is away, until the pod is gone', async () => {
    const { api, accounts, put, role } = setUp()
    put('one')
    await role()
    api.failure = away
    assert.equal(await role(), 'one')
    await assert.rejects(accounts.get(createPod({ metadata: { uid: 'u-2' } }), never), away)
    accounts.forget(pod.metadata.uid)
    await assert.rejects(role(), away)
  })

  test('does not remember one that is not to be had any more', async () => {
    const { api, put, role } = setUp()
    put('one')
    await role()
    for (const reason of ['NotFound', 'Forbidden', 'Other'] as const) {
      api.failure = new ObjectError(reason, 'no')
      await assert.rejects(role(), { reason })
    }
  })

  test('remembers nothing for a pod that went while it was asked', async () => {
    const { api, put, role } = setUp(false)
    put('one')
    await role()
    api.failure = away
    await assert.rejects(role(), away)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { createPodAccounts } from './create-pod-accounts.ts'
import type { TokenSpec } from './object-api.ts'

test('createPodAccounts() asks for a token that ends with the pod, for the audience and the account that are meant', async () => {
  const specs: TokenSpec[] = []
  const accounts = createPodAccounts({
    serviceAccount: async ({ spec }) => ({ metadata: { name: spec.serviceAccountName ?? '' } }),
    async token(_, spec) {
      specs.push(spec)
      return { token: 'hush', expiresAt: 0, lifeSeconds: 1 }
    },
  })
  const pod = createPod({ spec: { serviceAccountName: 'robot' } })
  const { signal } = new AbortController()
  assert.deepEqual(await accounts.account(pod, signal), { metadata: { name: 'robot' } })
  assert.equal(await accounts.token(pod, { audience: 'registry', accountUid: 'sa-1' }, signal), 'hush')
  assert.deepEqual(specs, [
    {
      audiences: ['registry'],
      expirationSeconds: 3600,
      boundObject: { kind: 'Pod', name: 'web', uid: 'u-1' },
      accountUid: 'sa-1',
    },
  ])
})

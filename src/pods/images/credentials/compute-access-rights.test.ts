import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeAccessRights } from './compute-access-rights.ts'
import type { ImageAccessRights } from './pull-record.ts'

const secret = (name: string, credentialHash = 'h') => ({ uid: 'u', namespace: 'n', name, credentialHash })
const secrets = (...list: ReturnType<typeof secret>[]): ImageAccessRights => ({ kubernetesSecrets: list })

test('computeAccessRights() adds and never takes away', () => {
  const account = { uid: 'u', namespace: 'n', name: 'a' }
  const rows: [known: ImageAccessRights, added: ImageAccessRights, rights: ImageAccessRights][] = [
    [{}, {}, {}],
    [{}, { nodePodsAccessible: true }, { nodePodsAccessible: true }],
    [{ nodePodsAccessible: true }, secrets(secret('a')), { nodePodsAccessible: true }],
    [secrets(secret('a')), { nodePodsAccessible: true }, { nodePodsAccessible: true }],
    [secrets(secret('a')), secrets(secret('b')), secrets(secret('a'), secret('b'))],
    [secrets(secret('a'), secret('b')), secrets(secret('a', 'x')), secrets(secret('b'), secret('a', 'x'))],
    [
      { kubernetesServiceAccounts: [account] },
      secrets(secret('a')),
      { ...secrets(secret('a')), kubernetesServiceAccounts: [account] },
    ],
    [
      secrets(secret('a')),
      { kubernetesServiceAccounts: [account] },
      { ...secrets(secret('a')), kubernetesServiceAccounts: [account] },
    ],
    [
      { kubernetesServiceAccounts: [account, { ...account, uid: 'new' }] },
      { kubernetesServiceAccounts: [account] },
      { kubernetesServiceAccounts: [{ ...account, uid: 'new' }, account] },
    ],
    [{ kubernetesServiceAccounts: [account] }, { nodePodsAccessible: true }, { nodePodsAccessible: true }],
  ]
  assert.deepEqual(
    rows.map(([known, added]) => [known, added, computeAccessRights(known, added)]),
    rows,
  )
  const many = Array.from({ length: 100 }, (_, index) => secret(`s${index}`))
  const { kubernetesSecrets = [] } = computeAccessRights(secrets(...many), secrets(secret('new')))
  assert.deepEqual([kubernetesSecrets.length, kubernetesSecrets.at(-1)?.name], [100, 'new'])
})

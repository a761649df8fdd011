import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computePullPermission, findProof } from './compute-pull-permission.ts'
import type { PullHistory, VerificationPolicy } from './compute-pull-permission.ts'
import type { ImageAccessRights } from './pull-record.ts'

const secret = { uid: 'u', namespace: 'team', name: 's', credentialHash: 'h' }
const account = { uid: 'u', namespace: 'team', name: 'builder' }
const recorded = (rights: ImageAccessRights, repository = 'r.example/a'): PullHistory => ({
  kind: 'recorded',
  record: { imageRef: 'sha256:x', lastUpdatedTime: '', credentialMapping: { [repository]: rights } },
})

describe('computePullPermission()', () => {
  const histories = {
    none: { kind: 'none' },
    begun: { kind: 'begun' },
    unreadable: { kind: 'unreadable' },
    open: recorded({ nodePodsAccessible: true }),
    empty: recorded({}),
    'of another name': recorded({ nodePodsAccessible: true }, 'r.example/b'),
    'by secret': recorded({ kubernetesSecrets: [secret] }),
  } satisfies Record<string, PullHistory>
  const policies: (VerificationPolicy | undefined)[] = [
    undefined,
    'NeverVerify',
    'NeverVerifyPreloadedImages',
    'NeverVerifyAllowlistedImages',
    'AlwaysVerify',
  ]
  const table: Record<keyof typeof histories, string> = {
    none: 'use use use pull pull',
    begun: 'use use pull pull pull',
    unreadable: 'use use pull pull pull',
    open: 'use use use use use',
    empty: 'use use pull pull pull',
    'of another name': 'use use pull pull pull',
    'by secret': 'use use ask ask ask',
  }
  for (const [name, expected] of Object.entries(table)) {
    test(`record ${name}: ${expected}`, () => {
      const history = histories[name as keyof typeof histories]
      const found = policies.map((policy) => {
        const permission = computePullPermission({ policy, allowlist: [], repository: 'r.example/a', history })
        return typeof permission === 'string' ? permission : 'ask'
      })
      assert.equal(found.join(' '), expected)
    })
  }

  const allowlists: [entry: string, repository: string, permission: string][] = [
    ['r.example/a', 'r.example/a', 'use'],
    ['r.example/a', 'r.example/a/b', 'pull'],
    ['r.example/*', 'r.example/a/b', 'use'],
    ['r.example/a/*', 'r.example/ab', 'pull'],
    ['docker.io/library/nginx', 'docker.io/library/nginx', 'use'],
  ]
  for (const [entry, repository, permission] of allowlists) {
    test(`allowlist ${entry}: ${permission} ${repository}`, () => {
      const input = { policy: 'NeverVerifyAllowlistedImages', allowlist: [entry], repository } as const
      assert.equal(computePullPermission({ ...input, history: { kind: 'none' } }), permission)
      assert.equal(computePullPermission({ ...input, history: recorded({}, repository) }), permission)
      // Only with its own policy.
      assert.equal(computePullPermission({ ...input, policy: 'AlwaysVerify', history: { kind: 'none' } }), 'pull')
    })
  }
})

describe('findProof()', () => {
  const rights: ImageAccessRights = { kubernetesSecrets: [secret], kubernetesServiceAccounts: [account] }
  const rotated = { ...secret, credentialHash: 'h2' }
  const copied = { ...secret, namespace: 'other', uid: 'v' }
  const rows: [what: string, proofs: Parameters<typeof findProof>[1], proof: ReturnType<typeof findProof>][] = [
    ['the same secret', { secrets: [secret], serviceAccount: undefined }, { newSecret: undefined }],
    ['the same secret with a new login', { secrets: [rotated], serviceAccount: undefined }, { newSecret: rotated }],
    ['another secret with the login', { secrets: [copied], serviceAccount: undefined }, { newSecret: copied }],
    [
      'a later secret of the pod',
      { secrets: [{ ...copied, credentialHash: 'x' }, secret], serviceAccount: undefined },
      { newSecret: undefined },
    ],
    [
      'another secret and login',
      { secrets: [{ ...copied, credentialHash: 'x' }], serviceAccount: undefined },
      undefined,
    ],
    ['no hash on either side', { secrets: [{ ...copied, credentialHash: '' }], serviceAccount: undefined }, undefined],
    ['the service account', { secrets: [], serviceAccount: account }, { newSecret: undefined }],
    ['another service account', { secrets: [], serviceAccount: { ...account, uid: 'v' } }, undefined],
    ['nothing', { secrets: [], serviceAccount: undefined }, undefined],
  ]
  for (const [what, proofs, proof] of rows) {
    test(`${proof === undefined ? 'refuses' : 'takes'} ${what}`, () =>
      assert.deepEqual(findProof(rights, proofs), proof))
  }

  test('never takes an empty hash for a login', () => {
    const blank = { ...secret, credentialHash: '' }
    const proofs = { secrets: [{ ...copied, credentialHash: '' }], serviceAccount: undefined }
    assert.equal(findProof({ kubernetesSecrets: [blank] }, proofs), undefined)
  })
})

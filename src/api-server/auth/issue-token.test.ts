import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import type { ObjectsByResource } from '../../../test/fakes/fake-objects.ts'
import type { TokenRequestSpec } from '../../model/generated/api-groups.ts'
import { ApiError } from '../api-error.ts'
import { createKeys } from '../../protocols/x509/certificate-files.ts'
import { authenticateToken, TOKEN_ISSUER } from './authenticate-token.ts'
import { issueToken } from './issue-token.ts'
import { TokenSigner } from './json-web-token.ts'

const NOW = Date.UTC(2026, 0, 1)
const signer = new TokenSigner(createKeys().privateKey)
const admin = { name: 'admin', groups: ['system:masters'] }
const node = { name: 'system:node:node-1', groups: ['system:nodes'] }
const pod = {
  metadata: { name: 'web', namespace: 'shop', uid: 'pod-uid' },
  spec: {
    nodeName: 'node-1',
    serviceAccountName: 'cashier',
    containers: [],
    volumes: [
      {
        name: 't',
        projected: {
          sources: [{ serviceAccountToken: { path: 't' } }, { serviceAccountToken: { path: 'v', audience: 'vault' } }],
        },
      },
    ],
  },
}
const objects: ObjectsByResource = {
  serviceaccounts: [{ metadata: { name: 'cashier', namespace: 'shop', uid: 'sa-uid' } }],
  pods: [
    pod,
    { metadata: { name: 'far', namespace: 'shop', uid: 'far-uid' }, spec: { ...pod.spec, nodeName: 'node-2' } },
  ],
  secrets: [{ metadata: { name: 'box', namespace: 'shop', uid: 'box-uid' } }],
  nodes: [{ metadata: { name: 'node-1', uid: 'node-uid' } }],
}
const podRef = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'pod-uid' }

function issue(spec: TokenRequestSpec, user = admin, name = 'cashier') {
  const issuer = { signer, objects: createFakeObjects(objects), now: NOW, newUid: () => 'jti' }
  return issueToken(issuer, { user, namespace: 'shop', name, spec }) as {
    spec: object
    status: { token: string; expirationTimestamp: string }
  }
}

function authenticate(
  token: string,
  change: { objects?: ObjectsByResource; now?: number; audiences?: readonly string[] } = {},
) {
  return authenticateToken(token, {
    signer,
    objects: createFakeObjects({ ...objects, ...change.objects }),
    now: change.now ?? NOW,
    audiences: change.audiences ?? [TOKEN_ISSUER],
  })
}

describe('issueToken()', () => {
  test('a token for a pod says all about it', () => {
    const { spec, status } = issue({ boundObjectRef: podRef, expirationSeconds: 607 }, node)
    assert.deepEqual(spec, { audiences: [TOKEN_ISSUER], expirationSeconds: 607, boundObjectRef: podRef })
    assert.equal(status.expirationTimestamp, '2026-01-01T00:10:07Z')
    const seconds = NOW / 1000
    assert.deepEqual(signer.read(status.token), {
      iss: TOKEN_ISSUER,
      sub: 'system:serviceaccount:shop:cashier',
      aud: [TOKEN_ISSUER],
      iat: seconds,
      nbf: seconds,
      exp: seconds + 607,
      jti: 'jti',
      'kubernetes.io': {
        namespace: 'shop',
        serviceaccount: { name: 'cashier', uid: 'sa-uid' },
        pod: { name: 'web', uid: 'pod-uid' },
        node: { name: 'node-1', uid: 'node-uid' },
      },
    })
    assert.deepEqual(authenticate(status.token), {
      user: {
        name: 'system:serviceaccount:shop:cashier',
        uid: 'sa-uid',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
        extra: {
          'authentication.kubernetes.io/credential-id': ['JTI=jti'],
          'authentication.kubernetes.io/pod-name': ['web'],
          'authentication.kubernetes.io/pod-uid': ['pod-uid'],
          'authentication.kubernetes.io/node-name': ['node-1'],
          'authentication.kubernetes.io/node-uid': ['node-uid'],
        },
      },
    })
  })

  test('a node may ask for the audience of a projected volume', () => {
    const { status } = issue({ boundObjectRef: podRef, audiences: ['vault'] }, node)
    assert.deepEqual(signer.read(status.token)?.aud, ['vault'])
  })

  const rejected: readonly (readonly [name: string, run: () => unknown, code: number, message: RegExp])[] = [
    ['an account that is not there', () => issue({}, admin, 'other'), 404, /serviceaccounts "other" not found/],
    ['less than ten minutes', () => issue({ expirationSeconds: 599 }), 422, /less than 10 minutes/],
    ['more than 2^32 seconds', () => issue({ expirationSeconds: 2 ** 32 + 1 }), 422, /larger than/],
    ['a pod that is not there', () => issue({ boundObjectRef: { ...podRef, name: 'x' } }), 404, /pods "x" not found/],
    ['a pod of another UID', () => issue({ boundObjectRef: { ...podRef, uid: 'x' } }), 409, /does not match/],
    [
      'another kind',
      () => issue({ boundObjectRef: { kind: 'Service', apiVersion: 'v1', name: 'x' } }),
      400,
      /expected Pod, Secret or Node/,
    ],
    ['a node, without a pod', () => issue({}, node), 403, /bound to a pod/],
    [
      'a node, for a secret',
      () => issue({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'box' } }, node),
      403,
      /bound to a pod/,
    ],
    [
      'a node, for a pod of another',
      () => issue({ boundObjectRef: { ...podRef, name: 'far', uid: 'far-uid' } }, node),
      403,
      /not bound to node/,
    ],
    [
      'a node, for an audience of its own',
      () => issue({ boundObjectRef: podRef, audiences: ['mine'] }, node),
      403,
      /no use for a token/,
    ],
    [
      'a node, for two audiences',
      () => issue({ boundObjectRef: podRef, audiences: ['vault', ''] }, node),
      403,
      /one audience at most/,
    ],
  ]
  for (const [name, run, code, message] of rejected) {
    test(`rejects ${name}`, () => {
      assert.throws(
        run,
        (error) => error instanceof ApiError && error.status.code === code && message.test(error.message),
      )
    })
  }
})

describe('authenticateToken()', () => {
  const bound = issue({ boundObjectRef: podRef, expirationSeconds: 600 }).status.token
  const toSecret = issue({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'box' } }).status.token
  const toNode = issue({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'node-1' } }).status.token
  const account = { name: 'cashier', namespace: 'shop' }

  const rows: readonly (readonly [
    name: string,
    token: string,
    change: Parameters<typeof authenticate>[1],
    fault: string | undefined,
  ])[] = [
    ['to its last second', bound, { now: NOW + 599_999 }, undefined],
    ['not after its end', bound, { now: NOW + 600_000 }, 'the token has expired'],
    ['when the clock was set back a little', bound, { now: NOW - 60_000 }, undefined],
    ['not long before its time', bound, { now: NOW - 61_000 }, 'the token is not valid yet'],
    ['not for another audience', bound, { audiences: ['other'] }, 'the token is meant for another audience'],
    [
      'not when its account is gone',
      bound,
      { objects: { serviceaccounts: [] } },
      'the serviceaccount of the token is gone',
    ],
    [
      'not when its account was created again',
      bound,
      { objects: { serviceaccounts: [{ metadata: { ...account, uid: 'new' } }] } },
      'the serviceaccount of the token is gone',
    ],
    ['not when its pod is gone', bound, { objects: { pods: [] } }, 'the pod of the token is gone'],
    [
      'not when its pod was created again',
      bound,
      { objects: { pods: [{ ...pod, metadata: { ...pod.metadata, uid: 'new' } }] } },
      'the pod of the token is gone',
    ],
    [
      'while its pod ends',
      bound,
      {
        objects: { pods: [{ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }] },
        now: NOW + 59_000,
      },
      undefined,
    ],
    [
      'not long after its pod should have ended',
      bound,
      {
        objects: { pods: [{ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }] },
        now: NOW + 60_000,
      },
      'the pod of the token is gone',
    ],
    ['when only the node of its pod is gone', bound, { objects: { nodes: [] } }, undefined],
    ['with its secret', toSecret, {}, undefined],
    ['not without its secret', toSecret, { objects: { secrets: [] } }, 'the secret of the token is gone'],
    ['with its node', toNode, {}, undefined],
    ['not without its node', toNode, { objects: { nodes: [] } }, 'the node of the token is gone'],
    ['not when it is none', 'a.b.c', {}, 'the token is none that this API has signed'],
  ]
  for (const [name, token, change, fault] of rows) {
    test(`a token is good ${name}`, () => assert.equal(authenticate(token, change).fault, fault))
  }
})

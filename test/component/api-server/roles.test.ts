import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connectTarget } from '../../contract/api-server/api-target.ts'
import type { ApiTarget } from '../../contract/api-server/api-target.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { startApiServer } from './start-secured-api.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

describe('rights by roles, through the whole server', () => {
  let target: ApiTarget
  let server: Awaited<ReturnType<typeof startApiServer>>
  const folder = makeTemporaryFolder()
  const send = async (method: string, path: string, body?: object, as?: string) => {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      ...(as && { 'impersonate-user': as }),
    }
    const answer = await target.send({
      user: 'admin',
      method,
      path,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: JSON.parse(answer.text) }
  }
  const bind = async (user: string, rules: readonly object[]) => {
    await send('POST', `${RBAC}/clusterroles`, { metadata: { name: user }, rules })
    const subjects = [{ kind: 'User', name: user }]
    await send('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: user },
      roleRef: { kind: 'ClusterRole', name: user },
      subjects,
    })
  }
  before(async () => {
    server = await startApiServer(folder)
    target = await connectTarget(server.server, join(folder, 'pki'))
  })
  after(async () => {
    await target[Symbol.asyncDispose]()
    await server.stop()
  })

  test('a right is gone with the next request after its binding', async () => {
    await bind('jane', [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }])
    assert.equal((await send('GET', '/api/v1/pods', undefined, 'jane')).status, 200)
    await send('DELETE', `${RBAC}/clusterrolebindings/jane`)
    assert.equal((await send('GET', '/api/v1/pods', undefined, 'jane')).status, 403)
  })

  test('a role or binding that is refused, or only tried, gives nothing', async () => {
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    await bind('writer', [
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'update', 'patch'] },
    ])
    const self = {
      metadata: { name: 'self' },
      roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: 'writer' }],
    }
    assert.equal((await send('POST', `${RBAC}/clusterrolebindings`, self, 'writer')).status, 403)
    assert.equal((await send('PATCH', `${RBAC}/clusterroles/writer`, { rules: all }, 'writer')).status, 403)
    assert.equal((await send('POST', `${RBAC}/clusterrolebindings?dryRun=All`, self)).status, 201)
    assert.equal((await send('GET', '/api/v1/secrets', undefined, 'writer')).status, 403)
  })

  test('to decide about a certificate one needs the right for its signer too', async () => {
    const request = Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n').toString(
      'base64',
    )
    const spec = { request, signerName: 'example.com/s', usages: ['client auth'] }
    await send('POST', CSRS, { metadata: { name: 'c' }, spec })
    const approve = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: '' }] } }
    const write = {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['patch'],
    }
    await bind('half', [write])
    const refused = await send('PATCH', `${CSRS}/c/approval`, approve, 'half')
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /user not permitted to approve requests with signerName "example.com\/s"/)
    await bind('whole', [
      write,
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['example.com/*'],
        verbs: ['approve'],
      },
    ])
    assert.equal((await send('PATCH', `${CSRS}/c/approval`, approve, 'whole')).status, 200)
  })

  test('impersonation is a right: of users, of groups, of accounts', async () => {
    await bind('boss', [{ apiGroups: [''], resources: ['users'], resourceNames: ['jim'], verbs: ['impersonate'] }])
    const asBoss = async (headers: Record<string, string>) => {
      // The administrator is who sends it, so the boss has to ask for itself.
      const spec = { user: 'boss', resourceAttributes: { verb: 'impersonate', ...headers } }
      const { body } = await send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })
      return body.status.allowed
    }
    assert.equal(await asBoss({ resource: 'users', name: 'jim' }), true)
    assert.equal(await asBoss({ resource: 'users', name: 'joe' }), false)
    assert.equal(await asBoss({ resource: 'groups', name: 'system:masters' }), false)
  })
})

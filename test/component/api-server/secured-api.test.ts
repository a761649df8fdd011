import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { inspectBackup } from '../../../src/api-server/store/inspect-backup.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../../src/protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../../src/protocols/x509/issue-certificate.ts'
import type { Authority } from '../../../src/protocols/x509/issue-certificate.ts'
import type { Pod } from '../../../src/model/generated/core-v1.ts'
import { createSigningRequest } from '../../builders/create-signing-request.ts'
import { CLIENT_AUTH, createTestCertificate, toTestIssuer } from '../../builders/create-test-authority.ts'
import type { TestCertificateContent } from '../../builders/create-test-authority.ts'
import { createFolder, startSecuredApi } from './start-secured-api.ts'
import type { ClientSecrets, SecuredApi } from './start-secured-api.ts'

const HOUR_MS = 3_600_000
const PODS = '/api/v1/namespaces/default/pods'
const SECRETS = '/api/v1/namespaces/default/secrets'
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

function readAuthority({ folder }: SecuredApi): Authority {
  const { certificate, certificatePem, key } = parseKeyedCertificate(readFileSync(join(folder, 'pki/ca.pem'), 'utf8'))
  return { certificate, pem: certificatePem, key }
}

async function createForeignAuthority(): Promise<Authority> {
  const keys = createKeys()
  const pem = await issueAuthority(keys, { commonName: 'other', lifetimeMs: HOUR_MS }, Date.now())
  const { certificate, key } = parseKeyedCertificate(`${pem}${toKeyPem(keys.privateKey)}`)
  return { certificate, pem, key }
}

/** A certificate that names the authority as its own, which it is not. */
async function forgeClient({ certificate }: Authority, user: string): Promise<ClientSecrets> {
  const subject = [{ CN: [certificate.subject.replace('CN=', '')] }]
  const issuer = await createTestCertificate({ subject, isAuthority: true })
  const forged = await createTestCertificate({ subject: [{ CN: [user] }], issuer, usages: [CLIENT_AUTH] })
  return { cert: forged.certificatePem, key: forged.keyPem }
}

/** A certificate that the authority signed, with what only a handshake finds wanting. */
async function signClient(
  authority: Authority,
  user: string,
  content: Pick<TestCertificateContent, 'hash' | 'criticalExtension'> = {},
): Promise<ClientSecrets> {
  const issuer = toTestIssuer(authority)
  const signed = await createTestCertificate({ subject: [{ CN: [user] }], issuer, usages: [CLIENT_AUTH], ...content })
  return { cert: signed.certificatePem, key: signed.keyPem }
}

async function issueClient(
  authority: Authority,
  user: string,
  change: { readonly groups?: readonly string[]; readonly usage?: 'client' | 'server'; readonly at?: number } = {},
): Promise<ClientSecrets> {
  const { publicKey, privateKey } = createKeys()
  const { groups = [], usage = 'client', at = Date.now() } = change
  const content = {
    commonName: user,
    organizations: groups,
    publicKey,
    names: [],
    usages: [usage],
    lifetimeMs: HOUR_MS,
  }
  return { cert: await issueCertificate(authority, content, at), key: toKeyPem(privateKey) }
}

async function whoami(api: SecuredApi, secrets: ClientSecrets): Promise<unknown> {
  const { status, body } = await api.call(secrets, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
  if (status !== 201) return status
  const { userInfo } = body['status'] as { userInfo: { username: string } }
  return userInfo.username
}

describe('the API server for each kind of caller', () => {
  test('certificates: only good ones authenticate a client', async (t) => {
    const api = await startSecuredApi(t)
    const authority = readAuthority(api)
    const masters = { groups: ['system:masters'] }
    const callers: readonly (readonly [name: string, secrets: ClientSecrets, who: unknown])[] = [
      ['none', {}, 401],
      ['of another authority', await issueClient(await createForeignAuthority(), 'evil', masters), 401],
      ['of another authority of the same name', await forgeClient(authority, 'evil'), 401],
      ['expired', await issueClient(authority, 'late', { ...masters, at: Date.now() - 2 * HOUR_MS }), 401],
      ['not valid yet', await issueClient(authority, 'early', { ...masters, at: Date.now() + 2 * HOUR_MS }), 401],
      ['of a server', await issueClient(authority, 'server', { ...masters, usage: 'server' }), 401],
      ['without a name', await issueClient(authority, '', masters), 401],
      ['with a SHA-1 signature', await signClient(authority, 'old', { hash: 'SHA-1' }), 401],
      [
        'with an unknown critical extension',
        await signClient(authority, 'odd', { criticalExtension: '1.3.6.1.4.1.57683.99' }),
        401,
      ],
      ['made like those two, with neither', await signClient(authority, 'joe'), 'joe'],
      ['right', await issueClient(authority, 'jane'), 'jane'],
      ['the administrator’s', api.admin, 'kubernetes-admin'],
      ['the node’s', api.node, 'system:node:node-1'],
    ]
    for (const [name, secrets, who] of callers) assert.equal(await whoami(api, secrets), who, name)
    const [one, other] = [await issueClient(authority, 'a'), await issueClient(authority, 'b')]
    await assert.rejects(
      api.call({ cert: one.cert ?? '', key: other.key ?? '' }, 'GET', '/version'),
      /key values mismatch/,
    )
  })

  test('a client that does not trust the authority gets no connection', async (t) => {
    const api = await startSecuredApi(t)
    const sent = request(`${api.server}/version`, { agent: false }).end()
    await assert.rejects(once(sent, 'response'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  })

  test('rights: 401 for an unknown user, 403 with a reason for one who may not', async (t) => {
    const api = await startSecuredApi(t)
    assert.deepEqual((await api.call({}, 'GET', '/version')).body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    })
    const jane = await issueClient(readAuthority(api), 'jane')
    assert.equal((await api.call(jane, 'GET', '/version')).status, 200)
    const { status, body } = await api.call(jane, 'GET', PODS)
    assert.equal(status, 403)
    assert.equal(
      body['message'],
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
    )
    assert.equal((await api.call(api.admin, 'GET', PODS)).status, 200)
    const reader = await issueClient(readAuthority(api), 'jane', { groups: ['deckhand:readers'] })
    const seen = [PODS, '/api/v1/secrets', '/api/v1/configmaps'].map((path) => api.call(reader, 'GET', path))
    assert.deepEqual(
      (await Promise.all(seen)).map(({ status }) => status),
      [200, 403, 200],
    )
    assert.equal((await api.call(reader, 'DELETE', PODS)).status, 403)
  })

  test('a copy of the store is made for administrators alone, as often as they ask', async (t) => {
    const api = await startSecuredApi(t)
    const reader = await issueClient(readAuthority(api), 'jane', { groups: ['deckhand:readers'] })
    const backup = (secrets: ClientSecrets, method = 'POST') => api.call(secrets, method, '/deckhand/backup')
    for (const secrets of [reader, api.node]) assert.equal((await backup(secrets)).status, 403)
    assert.equal((await backup(api.admin, 'GET')).status, 405)
    const path = `${api.folder}/objects/objects.db.backup`
    assert.equal(existsSync(path), false)
    const answers = await Promise.all([backup(api.admin), backup(api.admin), backup(api.admin)])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    const { objects } = inspectBackup(path, readFileSync(`${api.folder}/objects/secrets.key`))
    assert.ok(objects > 5, String(objects))
    assert.throws(() => inspectBackup(path, Buffer.alloc(32)), /its secrets were sealed with another key/)
  })

  test('impersonation is for administrators', async (t) => {
    const api = await startSecuredApi(t)
    const jane = await issueClient(readAuthority(api), 'jane')
    const as = (secrets: ClientSecrets) => ({
      ...secrets,
      headers: { 'Impersonate-User': 'joe', 'Impersonate-Group': ['a', 'b'] },
    })
    assert.equal(await whoami(api, as(jane)), 403)
    assert.equal(await whoami(api, as(api.admin)), 'joe')
    assert.equal((await api.call(as(api.admin), 'GET', PODS)).status, 403)
  })

  test('headers of a front proxy name no user, no matter who sends them: there is no such proxy', async (t) => {
    const api = await startSecuredApi(t)
    const authority = readAuthority(api)
    const headers = { 'X-Remote-User': 'root', 'X-Remote-Group': ['system:masters'], 'X-Remote-Extra-Scopes': 'all' }
    assert.equal(await whoami(api, { headers }), 401)
    for (const user of ['jane', 'front-proxy-client', 'aggregator']) {
      const caller = { ...(await issueClient(authority, user)), headers }
      assert.equal(await whoami(api, caller), user)
      assert.equal((await api.call(caller, 'GET', PODS)).status, 403)
    }
  })

  test('tokens of service accounts live as long as what they are bound to', async (t) => {
    const api = await startSecuredApi(t)
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const made = await api.call(api.admin, 'POST', PODS, { apiVersion: 'v1', kind: 'Pod', ...pod })
    assert.equal(made.status, 201)
    const accounts = '/api/v1/namespaces/default/serviceaccounts/default/token'
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'web' }
    const issued = await api.call(api.admin, 'POST', accounts, { spec: { boundObjectRef } })
    assert.equal(issued.status, 201)
    const { token } = issued.body['status'] as { token: string }
    assert.equal(await whoami(api, { token }), 'system:serviceaccount:default:default')
    assert.equal((await api.call({ token }, 'GET', PODS)).status, 403)
    assert.equal(await whoami(api, { token: `${token.slice(0, -8)}AAAAAAAA` }), 401)

    const review = (audiences: readonly string[]) =>
      api.call(api.admin, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token, audiences } })
    const { status } = (await review([])).body as { status: { authenticated: boolean; user: { username: string } } }
    assert.deepEqual([status.authenticated, status.user.username], [true, 'system:serviceaccount:default:default'])
    assert.equal(
      ((await review(['other'])).body['status'] as { authenticated?: boolean }).authenticated ?? false,
      false,
    )

    assert.equal((await api.call(api.admin, 'DELETE', `${PODS}/web?gracePeriodSeconds=0`)).status, 200)
    assert.equal(await whoami(api, { token }), 401)
  })

  test('a node comes by a bootstrap token to a certificate, and with it to what is its own', async (t) => {
    const api = await startSecuredApi(t, createFolder(t), { isNodeNew: true })
    assert.equal(await whoami(api, { token: 'abcdef.0123456789abcdef' }), 401)
    const token = await createBootstrapToken(api)
    assert.equal(await whoami(api, { token }), 'system:bootstrap:abcdef')
    assert.equal((await api.call({ token }, 'GET', PODS)).status, 403)

    const node = await requestCertificate(api, { token })
    assert.equal(await whoami(api, node), 'system:node:node-1')
    const nodes = '/api/v1/nodes'
    assert.equal((await api.call(node, 'POST', nodes, { metadata: { name: 'node-2' } })).status, 403)
    assert.equal((await api.call(node, 'POST', nodes, { metadata: { name: 'node-1' } })).status, 201)
    const patch = (body: object) =>
      api.call(
        { ...node, headers: { 'content-type': 'application/merge-patch+json' } },
        'PATCH',
        `${nodes}/node-1`,
        body,
      )
    assert.equal((await patch({ metadata: { labels: { mine: 'x' } } })).status, 200)
    const rejected = await patch({ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } })
    assert.deepEqual(
      [rejected.status, rejected.body['message']],
      [403, 'nodes "node-1" is forbidden: node "node-1" may not change its taints'],
    )
    const paths = [
      nodes,
      `${nodes}/node-1`,
      '/api/v1/secrets',
      '/api/v1/pods',
      '/api/v1/pods?fieldSelector=spec.nodeName=node-1',
      '/api/v1/services',
    ]
    const answers = await Promise.all(paths.map((path) => api.call(node, 'GET', path)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 200, 403, 403, 200, 200],
    )
  })

  test('a bootstrap token becomes no node that is there, also before it has registered', async (t) => {
    const api = await startSecuredApi(t)
    const token = await createBootstrapToken(api)
    const { name } = await askForCertificate(api, { token })
    // One that is granted is so in a few milliseconds.
    await setTimeout(500)
    assert.deepEqual((await api.call(api.admin, 'GET', `${REQUESTS}/${name}`)).body['status'], {})
  })

  test('a node reads what its static pods need, and nothing by a mirror pod that its agent does not know', async (t) => {
    const metadata = { name: 'web-node-1', namespace: 'default' }
    const source = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'hash' }
    const spec = {
      nodeName: 'node-1',
      containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'own' } }] }],
    }
    let answer: () => Promise<readonly Pod[]> = () => Promise.reject(new Error('connect ENOENT'))
    const api = await startSecuredApi(t, createFolder(t), { staticPods: () => answer() })
    for (const name of ['own', 'foreign'])
      await api.call(api.admin, 'POST', SECRETS, { metadata: { name }, stringData: { a: 'b' } })
    const made = await api.call(api.node, 'POST', '/api/v1/nodes', { metadata: { name: 'node-1' } })
    const { uid } = made.body['metadata'] as { uid: string }
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid, controller: true }
    const mirror = async (name: string, secret: string, hash = 'hash') => {
      const containers = [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: secret } }] }]
      const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.source': 'file' }
      const body = { metadata: { name, annotations, ownerReferences: [owner] }, spec: { ...spec, containers } }
      const { status, body: said } = await api.call(api.node, 'POST', PODS, body)
      return [status, said['message']]
    }
    const fault = 'node "node-1" may not create a mirror pod with "spec.containers[0].envFrom[0].secretRef"'
    const forbidden = (name: string, why: string) => [403, `pods "${name}" is forbidden: ${fault}: ${why}`]
    assert.deepEqual(await mirror('web-node-1', 'own'), [
      503,
      'the agent does not say which static pods it has: connect ENOENT',
    ])
    answer = () => Promise.resolve([{ metadata: { ...metadata, annotations: source }, spec }])
    const [unknown, less] = ['its agent has no such static pod', 'its static pod refers to less']
    assert.deepEqual(await mirror('other-node-1', 'foreign'), forbidden('other-node-1', unknown))
    assert.deepEqual(await mirror('web-node-1', 'own', 'forged'), forbidden('web-node-1', unknown))
    assert.deepEqual(await mirror('web-node-1', 'foreign'), forbidden('web-node-1', less))
    assert.equal((await api.call(api.node, 'GET', `${SECRETS}/own`)).status, 403)
    assert.deepEqual(await mirror('web-node-1', 'own'), [201, undefined])
    const statuses = await Promise.all(
      ['own', 'foreign'].map((name) => api.call(api.node, 'GET', `${SECRETS}/${name}`)),
    )
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [200, 403],
    )
  })
})

async function createBootstrapToken(api: SecuredApi): Promise<string> {
  const stringData = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
  }
  const secret = { type: 'bootstrap.kubernetes.io/token', metadata: { name: 'bootstrap-token-abcdef' }, stringData }
  assert.equal((await api.call(api.admin, 'POST', '/api/v1/namespaces/kube-system/secrets', secret)).status, 201)
  return 'abcdef.0123456789abcdef'
}

/** Asks for the client certificate of node-1 and waits for it. */
async function requestCertificate(api: SecuredApi, secrets: ClientSecrets): Promise<ClientSecrets> {
  const { name, privateKey } = await askForCertificate(api, secrets)
  for (;;) {
    const { body } = await api.call(secrets, 'GET', `${REQUESTS}/${name}`)
    const { certificate } = (body['status'] ?? {}) as { certificate?: string }
    if (certificate) return { cert: Buffer.from(certificate, 'base64').toString(), key: toKeyPem(privateKey) }
    await setTimeout(10)
  }
}

/** Asks for the client certificate of node-1; gives the name of the request. */
async function askForCertificate(api: SecuredApi, secrets: ClientSecrets) {
  const { pem, privateKey } = await createSigningRequest({})
  const spec = {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  }
  const made = await api.call(secrets, 'POST', REQUESTS, { metadata: { generateName: 'csr-' }, spec })
  assert.equal(made.status, 201)
  const { name } = made.body['metadata'] as { name: string }
  return { name, privateKey }
}

describe('the port of the API server', () => {
  test('rejects headers and bodies that are too large', async (t) => {
    const api = await startSecuredApi(t)
    const large = await api.call({ ...api.admin, headers: { 'x-large': 'x'.repeat(40_000) } }, 'GET', '/version')
    assert.equal(large.status, 431)
    const body = await api.call(api.admin, 'POST', PODS, 'x'.repeat(4 * 1024 * 1024))
    assert.equal(body.status, 413)
    assert.equal((await api.call(api.admin, 'GET', '/version')).status, 200)
  })

  test('lets clients in while others only sit there', async (t) => {
    const api = await startSecuredApi(t)
    const port = Number(new URL(api.server).port)
    let open = 0
    for (let count = 0; count < 600; count += 1) {
      const silent = connect(port, '127.0.0.1')
      silent.on('error', () => {})
      silent.once('close', () => (open -= 1))
      t.after(() => silent.destroy())
      await once(silent, 'connect')
      open += 1
    }
    assert.equal((await api.call(api.admin, 'GET', '/version')).status, 200)
    assert.ok(open <= 100, `${open} are open`)
  })

  test('ends within a second, and watches end in order', async (t) => {
    const api = await startSecuredApi(t)
    const { admin, authorityPem } = api
    const watch = request(`${api.server}/api/v1/pods?watch=1`, {
      ca: authorityPem,
      ...admin,
      agent: false,
      headers: {},
    })
    watch.end()
    const [response] = (await once(watch, 'response')) as [IncomingMessage]
    response.resume()
    // One that never begins its handshake.
    const silent = connect(Number(new URL(api.server).port), '127.0.0.1')
    await once(silent, 'connect')
    const ended = once(response, 'end')
    const start = performance.now()
    await api.stop()
    await ended
    assert.equal(response.complete, true)
    assert.ok(performance.now() - start < 1000)
    silent.destroy()
  })
})

describe('a second start', () => {
  test('uses what the first one made, and old clients go on', async (t) => {
    const folder = createFolder(t)
    const first = await startSecuredApi(t, folder)
    const files = ['pki/ca.pem', 'pki/serving.pem', 'pki/service-account.key']
    const texts = files.map((name) => readFileSync(join(folder, name), 'utf8'))
    await first.stop()
    const second = await startSecuredApi(t, folder)
    assert.deepEqual(
      files.map((name) => readFileSync(join(folder, name), 'utf8')),
      texts,
    )
    assert.equal(await whoami(second, first.admin), 'kubernetes-admin')
  })

  test('reports a damaged authority and one that is gone', async (t) => {
    const folder = createFolder(t)
    const first = await startSecuredApi(t, folder)
    await first.stop()
    writeFileSync(join(folder, 'pki/ca.pem'), 'nothing')
    await assert.rejects(
      startSecuredApi(t, folder),
      /Cannot use the authority .* it has no certificate; put the file back/,
    )
    rmSync(join(folder, 'pki/ca.pem'))
    await assert.rejects(startSecuredApi(t, folder), /"ca.pem" is missing/)
  })
})

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { createKeys, toKeyPem } from '../../../src/protocols/x509/certificate-files.ts'
import { issueCertificate } from '../../../src/protocols/x509/issue-certificate.ts'
import { joinCluster } from '../../../src/agent/cluster/join-cluster.ts'
import { KubeApiError } from '../../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'
import { HEADER, loadSettings } from '../../fakes/load-settings.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { createFolder, startSecuredApi } from '../api-server/start-secured-api.ts'
import type { SecuredApi } from '../api-server/start-secured-api.ts'

// The certificate that is to end has to last for the start of a busy machine.
const SHORT_MS = 4000
const SECRETS = '/api/v1/namespaces/kube-system/secrets'
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

/** A certificate of node-1 with its key, good for so long, from the authority of the API. */
async function issue({ folder }: SecuredApi, lifetimeMs: number): Promise<string> {
  const pem = readFileSync(join(folder, 'pki/ca.crt'), 'utf8')
  const key = createPrivateKey(readFileSync(join(folder, 'pki/ca.pem'), 'utf8'))
  const { publicKey, privateKey } = createKeys()
  const content = {
    commonName: 'system:node:node-1',
    organizations: ['system:nodes'],
    names: [],
    publicKey,
    lifetimeMs,
  }
  const authority = { certificate: new X509Certificate(pem), pem, key }
  return `${await issueCertificate(authority, { ...content, usages: ['client'] }, Date.now())}${toKeyPem(privateKey)}`
}

/** The agent as a client of the cluster of a kubeconfig file with this user. */
async function joinAs(t: TestContext, api: SecuredApi, options: { user: object; rotates: boolean; stored?: string }) {
  const root = createFolder(t)
  if (options.stored !== undefined) {
    mkdirSync(join(root, 'pki'))
    writeFileSync(join(root, 'pki/kubelet-client-current.pem'), options.stored)
  }
  const aside: string[] = []
  const cluster = { server: api.server, 'certificate-authority-data': Buffer.from(api.authorityPem).toString('base64') }
  const kubeconfig = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: options.user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(join(root, 'kubelet.conf'), JSON.stringify(kubeconfig))
  const flags = [`--kubeconfig=${root}/kubelet.conf`, `--cert-dir=${root}/pki`, '--config=/c']
  const settings = await loadSettings(flags, { '/c': `${HEADER}rotateCertificates: ${String(options.rotates)}\n` })
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  t.after(async () => {
    stop.abort(new Error('The test ends'))
    await group.join()
  })
  const certificate = { renewError() {}, rotated() {} }
  const joined = await joinCluster(
    {
      settings,
      environment: process.env,
      metrics: {
        client: { request() {}, waited() {}, sized() {} },
        certificate,
        pluginCall() {},
        pluginCertificate() {},
        hostResolved() {},
        stateSetAside: (kind) => void aside.push(kind),
      },
      giveUp: (error) => assert.fail(error),
      tracer: undefined,
      clock: systemClock,
      log: silentLogger,
      random: () => 0.5,
    },
    group,
  )
  for (const { name, run } of joined.loops) group.run(name, run)
  return { ...joined, root, group, aside }
}

/** The user that the server sees; the status code when it does not know us. */
async function whoami(client: KubeClient): Promise<string | number> {
  try {
    const { status } = await client.send<{ status: { userInfo: { username: string } } }>(
      { method: 'POST', path: REVIEWS, body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } },
      AbortSignal.timeout(30_000),
    )
    return status.userInfo.username
  } catch (error) {
    if (error instanceof KubeApiError) return error.code
    throw error
  }
}

/** Lets in clients with this token. */
async function admit(api: SecuredApi, id: string): Promise<string> {
  const secret = '0123456789abcdef'
  const stringData = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' }
  const object = { type: 'bootstrap.kubernetes.io/token', metadata: { name: `bootstrap-token-${id}` }, stringData }
  assert.equal((await api.call(api.admin, 'POST', SECRETS, object)).status, 201)
  return `${id}.${secret}`
}

describe('credentials that end while the agent runs, over real connections', () => {
  test('a client certificate of a file is refused when it has ended, and the next one of the file is taken at once', async (t) => {
    const api = await startSecuredApi(t)
    const file = join(createFolder(t), 'node.pem')
    writeFileSync(file, await issue(api, SHORT_MS))
    const user = { 'client-certificate': file, 'client-key': file }
    const { client } = await joinAs(t, api, { user, rotates: false })
    assert.equal(await whoami(client), 'system:node:node-1')
    const ends = Date.now() + SHORT_MS
    while (Date.now() <= ends) await delay(50)
    const ended = readFileSync(file, 'utf8')
    writeFileSync(file, await issue(api, 3_600_000))
    assert.equal((await api.call({ cert: ended, key: ended }, 'POST', REVIEWS, {})).status, 401)
    assert.equal(await whoami(client), 'system:node:node-1')
  })

  test('a file of which only a part is written does not cut off the client, and the whole one is taken', async (t) => {
    const api = await startSecuredApi(t)
    const file = join(createFolder(t), 'node.pem')
    writeFileSync(file, await issue(api, 3_600_000))
    const user = { 'client-certificate': file, 'client-key': file }
    const { client } = await joinAs(t, api, { user, rotates: false })
    assert.equal(await whoami(client), 'system:node:node-1')
    const next = await issue(api, 3_600_000)
    for (const share of [0, 0.2, 0.5, 0.9]) {
      writeFileSync(file, next.slice(0, next.length * share))
      assert.equal(await whoami(client), 'system:node:node-1', `with ${share} of it`)
    }
    writeFileSync(file, next)
    assert.equal(await whoami(client), 'system:node:node-1')
  })

  test('a certificate that the agent renews itself is replaced without a gap, and a watcher misses nothing', async (t) => {
    const api = await startSecuredApi(t)
    assert.equal((await api.call(api.node, 'POST', '/api/v1/nodes', { metadata: { name: 'node-1' } })).status, 201)
    const file = join(createFolder(t), 'first.pem')
    // Five minutes of its life of six have passed.
    writeFileSync(file, await issue(api, 60_000))
    const user = { 'client-certificate': file, 'client-key': file }
    const { client, certificates, node, root } = await joinAs(t, api, { user, rotates: true })
    const first = certificates?.current()?.certificatePem
    assert.ok(first !== undefined)
    const answers = new Set<string | number>()
    const patch = { ...api.admin, headers: { 'content-type': 'application/merge-patch+json' } }
    for (let round = 0, after = 0; after < 5; round += 1) {
      answers.add(await whoami(client))
      await api.call(patch, 'PATCH', '/api/v1/nodes/node-1', { metadata: { labels: { round: String(round) } } })
      while (node()?.metadata?.labels?.['round'] !== String(round)) await delay(5)
      if (certificates?.current()?.certificatePem !== first) after += 1
    }
    assert.deepEqual([...answers], ['system:node:node-1'])
    const current = readFileSync(join(root, 'pki/kubelet-client-current.pem'), 'utf8')
    assert.ok(new X509Certificate(current).validToDate.getTime() > Date.now() + 24 * 3_600_000)
    assert.match(readlinkSync(join(root, 'pki/kubelet-client-current.pem')), /kubelet-client-\d{4}(-\d\d){5}\.pem$/)
  })

  test('a stored certificate that is broken is set aside before there is a client, and reported when there is', async (t) => {
    const api = await startSecuredApi(t)
    assert.equal((await api.call(api.node, 'POST', '/api/v1/nodes', { metadata: { name: 'node-1' } })).status, 201)
    const file = join(createFolder(t), 'node.pem')
    writeFileSync(file, await issue(api, 3_600_000))
    const user = { 'client-certificate': file, 'client-key': file }
    const { aside, root } = await joinAs(t, api, { user, rotates: true, stored: 'half of it' })
    assert.deepEqual(aside, ['credential'])
    const find = async () => {
      const { body } = await api.call(api.admin, 'GET', '/api/v1/namespaces/default/events')
      const events = body['items'] as readonly { readonly reason: string; readonly message: string }[]
      return events.find(({ reason }) => reason === 'StateFileSetAside')
    }
    let event = await find()
    for (; event === undefined; event = await find()) await delay(20)
    const path = join(root, 'pki/kubelet-client-current.pem')
    assert.equal(event.message, `Cannot use "${path}": the agent goes on without it, the file was set aside`)
  })

  test('a token file is read again as soon as the server does not know the token any more', async (t) => {
    const api = await startSecuredApi(t)
    const file = join(createFolder(t), 'token')
    writeFileSync(file, await admit(api, 'aaaaaa'))
    const { client } = await joinAs(t, api, { user: { tokenFile: file }, rotates: false })
    assert.equal(await whoami(client), 'system:bootstrap:aaaaaa')
    writeFileSync(file, `${await admit(api, 'bbbbbb')}\n`)
    assert.equal(await whoami(client), 'system:bootstrap:aaaaaa')
    assert.equal((await api.call(api.admin, 'DELETE', `${SECRETS}/bootstrap-token-aaaaaa`)).status, 200)
    assert.equal(await whoami(client), 'system:bootstrap:bbbbbb')
  })

  test('a credential plugin is asked again when its token has ended, or is not known any more', async (t) => {
    const api = await startSecuredApi(t)
    const folder = createFolder(t)
    const [program, answer, count] = ['plugin', 'answer', 'count'].map((name) => join(folder, name))
    assert.ok(program !== undefined && answer !== undefined && count !== undefined)
    writeFileSync(program, `#!/bin/sh\necho run >> ${count}\nexec cat ${answer}\n`)
    chmodSync(program, 0o700)
    const apiVersion = 'client.authentication.k8s.io/v1'
    const say = (token: string, expirationTimestamp?: string) =>
      writeFileSync(
        answer,
        JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token, expirationTimestamp } }),
      )
    say(await admit(api, 'aaaaaa'), new Date(Date.now() + 1000).toISOString())
    const exec = { apiVersion, command: program, interactiveMode: 'Never' }
    const { client } = await joinAs(t, api, { user: { exec }, rotates: false })
    assert.equal(await whoami(client), 'system:bootstrap:aaaaaa')
    say(await admit(api, 'bbbbbb'))
    while ((await whoami(client)) !== 'system:bootstrap:bbbbbb') await delay(50)
    const runs = readFileSync(count, 'utf8')
    say(await admit(api, 'cccccc'))
    assert.equal(await whoami(client), 'system:bootstrap:bbbbbb')
    assert.equal(readFileSync(count, 'utf8'), runs)
    assert.equal((await api.call(api.admin, 'DELETE', `${SECRETS}/bootstrap-token-bbbbbb`)).status, 200)
    assert.equal(await whoami(client), 'system:bootstrap:cccccc')
  })
})

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import type { CertificatePair } from '../../../src/node/certificates/certificate-provider.ts'
import type { KubeconfigInfo } from '../../../src/node/certificates/kubeconfig-info.ts'
import { openClientCertificates } from '../../../src/node/certificates/open-client-certificates.ts'
import type { ClientCertificatesDeps } from '../../../src/node/certificates/open-client-certificates.ts'
import { openServingCertificates } from '../../../src/node/certificates/open-serving-certificates.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { setAside } from '../../../src/system/files/state/durable-file.ts'
import { createFolder, startSecuredApi } from '../api-server/start-secured-api.ts'
import type { SecuredApi } from '../api-server/start-secured-api.ts'
import { createHttpsKubeClient } from './https-kube-client.ts'
import { ApiReturn } from '../../../src/protocols/kube-api/list-watch/api-return.ts'

const TOKEN = 'abcdef.0123456789abcdef'
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

/** The API of node-1, with a bootstrap token. */
async function startApi(t: TestContext, isNodeNew = true): Promise<SecuredApi> {
  const api = await startSecuredApi(t, createFolder(t), { isNodeNew })
  const [id, secret] = TOKEN.split('.')
  const stringData = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' }
  const object = { type: 'bootstrap.kubernetes.io/token', metadata: { name: `bootstrap-token-${id}` }, stringData }
  assert.equal((await api.call(api.admin, 'POST', '/api/v1/namespaces/kube-system/secrets', object)).status, 201)
  return api
}

function createDeps(t: TestContext, api: SecuredApi) {
  const root = createFolder(t)
  const info: KubeconfigInfo = {
    server: new URL(api.server),
    authority: { kind: 'data', pem: api.authorityPem },
    insecure: false,
    serverName: undefined,
    proxy: undefined,
    user: { certificate: undefined },
  }
  const deps: ClientCertificatesDeps = {
    apiReturn: new ApiReturn(),
    nodeName: 'node-1',
    kubeconfigPath: join(root, 'kubelet.conf'),
    bootstrapPath: join(root, 'bootstrap.conf'),
    folder: join(root, 'pki'),
    rotates: true,
    async readKubeconfig(path) {
      if (path.endsWith('bootstrap.conf')) return info
      const [, pem = ''] = /client-certificate: "(.*)"/.exec(readFileSync(path, 'utf8')) ?? []
      const file = { kind: 'file', path: pem } as const
      return { ...info, user: { certificate: { certificate: file, key: file } } }
    },
    connect: async (_, certificates) =>
      createHttpsKubeClient(api, () =>
        certificates === undefined ? { token: TOKEN } : toSecrets(certificates.current()),
      ),
    giveUp: (error) => assert.fail(error),
    metrics: { renewError() {}, rotated() {} },
    setAside,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
  }
  return deps
}

function toSecrets(pair: CertificatePair | undefined) {
  return pair === undefined ? {} : { cert: pair.certificatePem, key: pair.keyPem }
}

async function whoami(api: SecuredApi, pair: CertificatePair | undefined): Promise<unknown> {
  const { body } = await api.call(toSecrets(pair), 'POST', REVIEWS, {})
  return (body['status'] as { userInfo?: { username: string } } | undefined)?.userInfo?.username
}

/** Runs something as long as the test does. */
function keepRunning(t: TestContext, part: { run(signal: AbortSignal): Promise<void> }): void {
  const controller = new AbortController()
  const running = part.run(controller.signal).catch(() => {})
  t.after(async () => {
    controller.abort(new Error('The test ends'))
    await running
  })
}

describe('the certificates of a node, from a real API', () => {
  test('a node comes by a bootstrap token to its client certificate, and finds it again', async (t) => {
    const api = await startApi(t)
    const deps = createDeps(t, api)
    const certificates = await openClientCertificates(deps, t.signal)
    assert.ok(certificates)
    const changed = Promise.withResolvers<void>()
    certificates.onChange(changed.resolve)
    keepRunning(t, certificates)
    await changed.promise
    assert.equal(await whoami(api, certificates.current()), 'system:node:node-1')
    const current = join(deps.folder, 'kubelet-client-current.pem')
    assert.match(readlinkSync(current), /^\/.*\/pki\/kubelet-client-\d{4}(-\d\d){5}\.pem$/)
    assert.ok(readFileSync(deps.kubeconfigPath, 'utf8').includes(`client-key: "${current}"`))
    const again = await openClientCertificates(
      { ...deps, connect: () => assert.fail('nothing is asked for') },
      t.signal,
    )
    assert.equal(again?.current()?.keyPem, certificates.current()?.keyPem)
  })

  test('without rotation it waits for it', async (t) => {
    const api = await startApi(t)
    const deps = { ...createDeps(t, api), rotates: false }
    assert.equal(await openClientCertificates(deps, t.signal), undefined)
    assert.deepEqual(readdirSync(deps.folder).length, 2)
    const pem = readFileSync(join(deps.folder, 'kubelet-client-current.pem'), 'utf8')
    assert.equal(await whoami(api, { certificatePem: pem, keyPem: pem }), 'system:node:node-1')
  })

  test('a certificate for another node is denied', async (t) => {
    const api = await startApi(t)
    const deps = { ...createDeps(t, api), rotates: false, nodeName: 'node-2' }
    await assert.rejects(
      openClientCertificates(deps, t.signal),
      /Cannot get a certificate: the request "node-csr-.*" was denied: KubeletPolicy: Denied: a bootstrap token is only good for node "node-1"/,
    )
  })

  test('the serving certificate is for the addresses of the node', async (t) => {
    const api = await startApi(t, false)
    assert.equal((await api.call(api.node, 'POST', '/api/v1/nodes', { metadata: { name: 'node-1' } })).status, 201)
    const nodeAddresses = [
      { type: 'InternalIP', address: '192.0.2.7' },
      { type: 'Hostname', address: 'node-1' },
    ]
    const patch = { ...api.node, headers: { 'content-type': 'application/merge-patch+json' } }
    const status = { status: { addresses: nodeAddresses } }
    assert.equal((await api.call(patch, 'PATCH', '/api/v1/nodes/node-1/status', status)).status, 200)
    const certificates = await openServingCertificates({
      ...createDeps(t, api),
      tlsCertFile: '',
      tlsPrivateKeyFile: '',
      serverTLSBootstrap: true,
      reloads: true,
      allowsNamesOnly: false,
      nodeIps: [],
      nodeAddresses: () => nodeAddresses,
      client: createHttpsKubeClient(api, () => api.node),
    })
    assert.equal(certificates.current(), undefined)
    const changed = Promise.withResolvers<void>()
    certificates.onChange(changed.resolve)
    keepRunning(t, certificates)
    await changed.promise
    const { subjectAltName, subject } = new X509Certificate(certificates.current()?.certificatePem ?? '')
    assert.deepEqual(
      [subjectAltName, subject],
      ['DNS:node-1, IP Address:192.0.2.7', 'O=system:nodes\nCN=system:node:node-1'],
    )
  })
})

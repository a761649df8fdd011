import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createCertificate } from '../../../test/builders/create-certificate.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeSigner } from '../../../test/fakes/fake-signer.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { until } from '../../../test/fakes/until.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import { setAside } from '../../system/files/state/durable-file.ts'
import type { CertificatePair } from './certificate-provider.ts'
import type { KubeconfigInfo } from './kubeconfig-info.ts'
import { openClientCertificates } from './open-client-certificates.ts'
import type { ClientCertificatesDeps } from './open-client-certificates.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

const HOUR_MS = 3_600_000

const cluster: KubeconfigInfo = {
  server: new URL('https://192.0.2.1:6443'),
  authority: { kind: 'data', pem: 'the authority' },
  insecure: false,
  serverName: undefined,
  proxy: undefined,
  user: { certificate: undefined },
}

const withData = ({ certificatePem, keyPem }: CertificatePair): KubeconfigInfo => ({
  ...cluster,
  user: { certificate: { certificate: { kind: 'data', pem: certificatePem }, key: { kind: 'data', pem: keyPem } } },
})

/** A node with a folder, kubeconfig files that say what the test says, and a cluster that signs. */
async function place(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-client-'))
  t.after(() => rmSync(root, { recursive: true }))
  const clock = new FakeClock()
  const signer = await FakeSigner.create(clock)
  const [folder, kubeconfigPath, bootstrapPath] = ['pki', 'kubelet.conf', 'bootstrap.conf'].map((name) =>
    join(root, name),
  ) as [string, string, string]
  const kubeconfigs = new Map<string, KubeconfigInfo>([[bootstrapPath, cluster]])
  const seen = { connected: [] as string[], ends: [] as string[], errors: 0 }
  const controller = new AbortController()
  const open = async (change: Partial<ClientCertificatesDeps> = {}, signal = controller.signal) =>
    await openClientCertificates(
      {
        apiReturn: new ApiReturn(),
        nodeName: 'node-1',
        kubeconfigPath,
        bootstrapPath,
        folder,
        rotates: true,
        async readKubeconfig(path) {
          const info = kubeconfigs.get(path)
          if (info === undefined) throw new Error(`Cannot read "${path}": there is none`)
          return info
        },
        async connect(path, certificates) {
          seen.connected.push(
            `${path.slice(root.length + 1)} ${certificates === undefined ? 'as it says' : 'with ours'}`,
          )
          return signer
        },
        giveUp: (error) => seen.ends.push(error.message),
        metrics: { renewError: () => (seen.errors += 1), rotated() {} },
        setAside,
        clock,
        random: () => 0,
        log: silentLogger,
        ...change,
      },
      signal,
    )
  const run = (certificates: Awaited<ReturnType<typeof open>>) => {
    const running = certificates?.run(controller.signal)
    t.after(async () => {
      controller.abort(new Error('The test ends'))
      await running
      assert.equal(clock.sleeping, 0)
    })
  }
  const current = join(folder, 'kubelet-client-current.pem')
  const create = async (lifetimeMs = HOUR_MS) => await createCertificate(clock.now(), lifetimeMs)
  return {
    folder,
    current,
    kubeconfigPath,
    bootstrapPath,
    kubeconfigs,
    signer,
    clock,
    seen,
    open,
    run,
    create,
    controller,
  }
}

const KUBECONFIG = (path: string) => `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from('the authority').toString('base64')}
    server: "https://192.0.2.1:6443"
  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
kind: Config
preferences: {}
users:
- name: default-auth
  user:
    client-certificate: "${path}"
    client-key: "${path}"
`

describe('openClientCertificates() with rotation', () => {
  test('bootstraps in the background: the file at once, the certificate when it comes', async (t) => {
    const { open, run, kubeconfigPath, current, seen, folder } = await place(t)
    const certificates = await open()
    assert.equal(readFileSync(kubeconfigPath, 'utf8'), KUBECONFIG(current))
    assert.equal(statSync(kubeconfigPath).mode & 0o777, 0o600)
    assert.deepEqual([certificates?.current(), certificates?.ttlSeconds()], [undefined, Infinity])
    const changed = Promise.withResolvers<void>()
    certificates?.onChange(changed.resolve)
    run(certificates)
    await changed.promise
    const { certificatePem, keyPem } = certificates?.current() ?? {}
    assert.equal(readFileSync(current, 'utf8'), `${certificatePem}${keyPem}`)
    assert.deepEqual(readdirSync(folder), ['kubelet-client-2026-01-01-00-00-00.pem', 'kubelet-client-current.pem'])
    assert.deepEqual(seen.connected, ['bootstrap.conf as it says'])
  })

  test('a kubeconfig file that is good is used, whatever the bootstrap says', async (t) => {
    const { open, run, kubeconfigs, kubeconfigPath, bootstrapPath, folder, create, clock, signer, seen } =
      await place(t)
    const certificate = await create()
    const [certificateFile, keyFile] = [join(folder, '../a.crt'), join(folder, '../a.key')]
    writeFileSync(certificateFile, certificate.certificatePem)
    writeFileSync(keyFile, certificate.keyPem)
    kubeconfigs.set(kubeconfigPath, {
      ...cluster,
      user: {
        certificate: { certificate: { kind: 'file', path: certificateFile }, key: { kind: 'file', path: keyFile } },
      },
    })
    kubeconfigs.delete(bootstrapPath)
    const certificates = await open()
    assert.equal(certificates?.current()?.keyPem, certificate.keyPem)
    // It is not for system:nodes: another one is asked for, with this one.
    run(certificates)
    await until(() => certificates?.current()?.keyPem !== certificate.keyPem)
    assert.deepEqual([signer.requests.length, seen.connected], [1, ['kubelet.conf with ours']])
    await clock.advance(60_000)
    assert.equal(signer.requests.length, 1)
  })

  test('what the kubeconfig file has in itself is taken into the store, and replaced at once', async (t) => {
    const { open, run, kubeconfigs, kubeconfigPath, current, create, clock } = await place(t)
    const { certificatePem, keyPem } = await create()
    kubeconfigs.set(kubeconfigPath, withData({ certificatePem, keyPem }))
    const certificates = await open({ bootstrapPath: '' })
    assert.equal(certificates?.current()?.keyPem, keyPem)
    assert.equal(readFileSync(current, 'utf8'), `${certificatePem}${keyPem}`)
    await clock.advance(1000)
    run(certificates)
    await until(() => certificates?.current()?.keyPem !== keyPem)
    assert.match(readlinkSync(current), /kubelet-client-2026-01-01-00-00-01\.pem$/)
  })

  for (const state of ['ended', 'broken'] as const) {
    test(`a kubeconfig file whose certificate is ${state} is written again`, async (t) => {
      const { open, kubeconfigs, kubeconfigPath, current, create, clock, folder } = await place(t)
      const client = await create(1000)
      await clock.advance(2000)
      writeFileSync(kubeconfigPath, 'theirs')
      kubeconfigs.set(kubeconfigPath, withData(state === 'ended' ? client : { certificatePem: 'x', keyPem: 'y' }))
      assert.equal((await open())?.current(), undefined)
      assert.equal(readFileSync(kubeconfigPath, 'utf8'), KUBECONFIG(current))
      const kept = readdirSync(join(folder, '..')).find((name) => name.startsWith('kubelet.conf.old-')) ?? ''
      assert.equal(readFileSync(join(folder, '..', kept), 'utf8'), 'theirs')
    })
  }

  test('without a bootstrap file the kubeconfig file has to be there', async (t) => {
    const { open } = await place(t)
    await assert.rejects(open({ bootstrapPath: '' }), /Cannot read ".*kubelet.conf"/)
  })

  test('a node whose certificate has ended comes back by the bootstrap, or ends after five minutes', async (t) => {
    const { open, run, clock, signer, seen } = await place(t)
    signer.lifetimeMs = HOUR_MS
    const certificates = await open()
    run(certificates)
    await until(() => certificates?.current() !== undefined)
    signer.policy = new KubeUnreachableError('away')
    // Until it is requested again, and no server answers.
    await clock.advance(HOUR_MS)
    await until(() => seen.errors > 0)
    await clock.advance(2 * HOUR_MS)
    assert.deepEqual([certificates?.current(), seen.ends], [undefined, []])
    signer.policy = new KubeApiError('who?', { code: 401, reason: 'Unauthorized' })
    seen.connected.length = 0
    while (seen.ends.length === 0) await clock.advance(1000)
    assert.match(seen.ends.join(), /Cannot go on without a valid client certificate/)
    assert.deepEqual([...new Set(seen.connected)], ['bootstrap.conf as it says'])
  })
})

describe('openClientCertificates() without rotation', () => {
  test('waits for the certificate, then writes the file', async (t) => {
    const { open, current, folder, kubeconfigPath, signer, seen } = await place(t)
    assert.equal(await open({ rotates: false }), undefined)
    assert.equal(readFileSync(kubeconfigPath, 'utf8'), KUBECONFIG(current))
    assert.deepEqual(readdirSync(folder), ['kubelet-client-2026-01-01-00-00-00.pem', 'kubelet-client-current.pem'])
    assert.match(signer.requests[0]?.metadata.name ?? '', /^node-csr-[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(seen.connected, ['bootstrap.conf as it says'])
  })

  test('finds its own request again after a restart', async (t) => {
    const { open, folder, signer, clock, kubeconfigPath, controller } = await place(t)
    signer.policy = 'wait'
    const first = open({ rotates: false })
    await until(() => signer.requests.length === 1)
    await until(() => clock.sleeping === 1)
    controller.abort(new Error('The agent is killed'))
    await assert.rejects(first, /The agent is killed/)
    assert.deepEqual(readdirSync(folder), ['kubelet-client.key.tmp'])
    assert.throws(() => statSync(kubeconfigPath), { code: 'ENOENT' })
    signer.policy = 'sign'
    await signer.decide()
    await open({ rotates: false }, new AbortController().signal)
    assert.equal(signer.requests.length, 1)
    assert.ok(!readdirSync(folder).includes('kubelet-client.key.tmp'))
  })

  test('calls the request of a key as the Go kubelet does, whose key may be there', async (t) => {
    const { open, folder, signer } = await place(t)
    const der =
      'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5fiLrqK6f7g9o5AhZWYmUKo5XmGMXZ6yL4ied6jJOpmhRANCAAQnLEY+lpHULTN+z8IJPNZ1RMdQ7zvYr30MZvyFjvR9RX/J02xC9UVxHGFzI/eOM8G5S1+E0R9J+bd+/3ynhsQg'
    const key = createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' })
    mkdirSync(folder)
    writeFileSync(join(folder, 'kubelet-client.key.tmp'), key.export({ type: 'sec1', format: 'pem' }))
    await open({ rotates: false })
    assert.equal(signer.requests[0]?.metadata.name, 'node-csr-cicbwIf7wTcHIK15GtRn4rzgsxY8yERvDh8fCt4a2xg')
  })

  test('reports a denial', async (t) => {
    const { open, signer } = await place(t)
    signer.policy = 'deny'
    await assert.rejects(
      open({ rotates: false }),
      /^SigningError: Cannot get a certificate: the request "node-csr-.*" was denied: NotYou: go away$/,
    )
  })

  test('gives the server a minute to come up', async (t) => {
    const { open, signer, clock, kubeconfigPath } = await place(t)
    signer.policy = new KubeUnreachableError('away')
    const opening = open({ rotates: false })
    await until(() => clock.sleeping === 1)
    await clock.advance(30_000)
    signer.policy = 'sign'
    await clock.advance(2000)
    await opening
    assert.ok(statSync(kubeconfigPath))
  })

  test('and no longer', async (t) => {
    const { open, signer, clock } = await place(t)
    signer.policy = new KubeUnreachableError('away')
    const opening = assert.rejects(open({ rotates: false }), /away/)
    await until(() => clock.sleeping === 1)
    await clock.advance(70_000)
    await opening
    assert.equal(clock.sleeping, 0)
  })

  test('names a certificate of the bootstrap that has ended when the server does not know us', async (t) => {
    const { open, signer, clock, kubeconfigs, bootstrapPath, create } = await place(t)
    const ended = await create()
    kubeconfigs.set(bootstrapPath, withData(ended))
    await clock.advance(HOUR_MS + 1000)
    signer.policy = new KubeApiError('Unauthorized', { code: 401, reason: 'Unauthorized' })
    await assert.rejects(open({ rotates: false }), {
      message: `Cannot bootstrap with "${bootstrapPath}": its client certificate has ended at ${ended.certificate.validToDate.toISOString()}`,
      cause: signer.policy,
    })
  })

  test('a kubeconfig file that is good is all it needs', async (t) => {
    const { open, kubeconfigs, kubeconfigPath, create, seen } = await place(t)
    kubeconfigs.set(kubeconfigPath, withData(await create()))
    assert.equal(await open({ rotates: false }), undefined)
    assert.deepEqual(seen.connected, [])
  })
})

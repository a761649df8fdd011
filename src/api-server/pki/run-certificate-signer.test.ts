import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createSigningRequest } from '../../../test/builders/create-signing-request.ts'
import type { SigningRequestContent } from '../../../test/builders/create-signing-request.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { CertificateSigningRequest } from '../../model/generated/api-groups.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { ObjectOf } from '../store/api-object.ts'
import { authenticateClientCertificate } from '../auth/authenticate-client-certificate.ts'
import { openPki } from './open-pki.ts'
import { runCertificateSigner } from './run-certificate-signer.ts'

type SigningRequest = ObjectOf<CertificateSigningRequest>

/** A signer over requests in memory; settled() waits until it has nothing to do. */
async function startSigner(t: TestContext, nodes: readonly Node[] = [], log: Logger = silentLogger) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-signer-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const clock = new FakeClock()
  const { authority } = await openPki(folder, { clock, log: silentLogger })
  const stored = new Map<string, SigningRequest>()
  let wake = () => {}
  const write = (request: SigningRequest) => {
    stored.set(request.metadata.name ?? '', request)
    wake()
    return Promise.resolve()
  }
  const requests = {
    list: () => [...stored.values()],
    findNode: (name: string) => nodes.find(({ metadata }) => metadata?.name === name),
    onChange: (listener: () => void) => {
      wake = listener
      return () => {}
    },
    writeApproval: write,
    writeStatus: write,
    remove: (name: string) => Promise.resolve(void stored.delete(name)),
  }
  const stop = new AbortController()
  const deps = { requests, authority, nodeName: 'node-1', hasCredential: false, clock, log }
  const running = runCertificateSigner(deps, stop.signal).catch(() => {})
  t.after(async () => {
    stop.abort(new Error('done'))
    await running
    assert.equal(clock.sleeping, 0)
  })
  const settled = async () => {
    do await setImmediate()
    while (clock.sleeping === 0)
  }
  await settled()
  return {
    clock,
    authority,
    settled,
    write,
    statusOf: (name: string) => stored.get(name)?.status,
  }
}

const client = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
}
const bootstrap = { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] }

async function createRequest(
  name: string,
  content: SigningRequestContent,
  spec: object,
  now: number,
): Promise<SigningRequest> {
  const { pem } = await createSigningRequest(content)
  const request = Buffer.from(pem).toString('base64')
  const metadata = { name, creationTimestamp: new Date(now).toISOString() }
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec: { ...client, ...bootstrap, request, ...spec },
  }
}

function certificateIn(status: SigningRequest['status']): X509Certificate {
  return new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'))
}

describe('runCertificateSigner()', () => {
  test('approves and signs the client certificate of the own node', async (t) => {
    const { write, settled, statusOf, clock, authority } = await startSigner(t)
    await write(await createRequest('a', {}, {}, clock.now()))
    await settled()
    assert.deepEqual(
      statusOf('a')?.conditions?.map(({ type }) => type),
      ['Approved'],
    )
    const certificate = certificateIn(statusOf('a'))
    assert.ok(certificate.verify(authority.certificate.publicKey))
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:node-1')
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  })

  test('signs what it has judged, and nothing else that a request asks for', async (t) => {
    const { write, settled, statusOf, clock, authority } = await startSigner(t)
    await write(await createRequest('a', { isGreedy: true }, {}, clock.now()))
    await settled()
    const certificate = certificateIn(statusOf('a'))
    assert.equal(certificate.ca, false)
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    const { user } = authenticateClientCertificate(certificate, authority.certificate, clock.now())
    assert.equal(user?.name, 'system:node:node-1')
  })

  test('gives as much time as is asked for, up to a year', async (t) => {
    const { write, settled, statusOf, clock } = await startSigner(t)
    await write(await createRequest('short', {}, { expirationSeconds: 3600 }, clock.now()))
    await write(await createRequest('long', {}, { expirationSeconds: 10 * 365 * 86_400 }, clock.now()))
    await settled()
    const ends = ['short', 'long'].map((name) => certificateIn(statusOf(name)).validToDate.getTime() - clock.now())
    assert.deepEqual(ends, [3_600_000, 365 * 86_400_000])
  })

  test('denies with a reason what a node may not have', async (t) => {
    const { write, settled, statusOf, clock } = await startSigner(t)
    await write(await createRequest('a', { commonNames: ['system:node:other'] }, {}, clock.now()))
    await settled()
    assert.equal(statusOf('a')?.certificate, undefined)
    assert.deepEqual(
      statusOf('a')?.conditions?.map(({ type, message }) => [type, message]),
      [['Denied', 'Denied: a bootstrap token is only good for node "node-1", not for "system:node:other"']],
    )
  })

  test('leaves a bootstrap token that asks for a node that is there to an administrator, and says so once', async (t) => {
    const warnings: unknown[] = []
    const log = { ...silentLogger, warn: (_: string, fields: object = {}) => void warnings.push(fields) }
    const { write, settled, statusOf, clock } = await startSigner(t, [{ metadata: { name: 'node-1' } }], log)
    const request = await createRequest('a', {}, {}, clock.now())
    for (let times = 0; times < 2; times += 1) {
      await write(request)
      await settled()
    }
    assert.equal(statusOf('a'), undefined)
    const why = 'node "node-1" exists: a bootstrap token is only good for a new one'
    assert.deepEqual(warnings, [{ request: 'a', user: 'system:bootstrap:abcdef', why }])
    await write({ ...request, status: { conditions: [{ type: 'Approved', status: 'True' }] } })
    await settled()
    assert.equal(certificateIn(statusOf('a')).subject, 'O=system:nodes\nCN=system:node:node-1')
  })

  test('signs for a server the addresses that its node has', async (t) => {
    const node = { metadata: { name: 'node-1' }, status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] } }
    const { write, settled, statusOf, clock } = await startSigner(t, [node])
    const spec = {
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      username: 'system:node:node-1',
      groups: ['system:nodes'],
    }
    await write(await createRequest('own', { names: [{ type: 'ip', value: '192.0.2.1' }] }, spec, clock.now()))
    await write(await createRequest('foreign', { names: [{ type: 'ip', value: '192.0.2.2' }] }, spec, clock.now()))
    await settled()
    assert.ok(certificateIn(statusOf('own')).checkIP('192.0.2.1'))
    assert.deepEqual(
      statusOf('foreign')?.conditions?.map(({ type }) => type),
      ['Denied'],
    )
  })

  test('what an administrator approves and cannot be signed has failed', async (t) => {
    const { write, settled, statusOf, clock } = await startSigner(t)
    const request = await createRequest(
      'a',
      { organizations: ['system:masters'] },
      { username: 'admin', groups: [] },
      clock.now(),
    )
    await write(request)
    await settled()
    assert.equal(statusOf('a'), undefined)
    await write({ ...request, status: { conditions: [{ type: 'Approved', status: 'True' }] } })
    await settled()
    assert.equal(statusOf('a')?.certificate, undefined)
    assert.deepEqual(
      statusOf('a')?.conditions?.map(({ type }) => type),
      ['Approved', 'Failed'],
    )
  })

  test('leaves the requests of other signers alone, and removes old ones', async (t) => {
    const { write, settled, statusOf, clock } = await startSigner(t)
    const status = { conditions: [] }
    const other = await createRequest('other', {}, { signerName: 'example.com/signer' }, clock.now())
    await write({ ...other, status })
    await write(await createRequest('mine', {}, {}, clock.now()))
    await settled()
    assert.deepEqual(statusOf('other'), status)
    await clock.advance(3_600_000 + 60_000)
    await settled()
    assert.deepEqual([statusOf('mine'), statusOf('other')], [undefined, status])
    await clock.advance(24 * 3_600_000)
    await settled()
    assert.equal(statusOf('other'), undefined)
  })
})

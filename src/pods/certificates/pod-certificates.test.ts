import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createCertificate } from '../../../test/builders/create-certificate.ts'
import { createPod } from '../../../test/builders/create-pod.ts'
import { FakeCertificatesApi } from '../../../test/fakes/fake-certificates-api.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { loadX509 } from '../../protocols/x509/load-x509.ts'
import { createPodKey } from './create-pod-key.ts'
import { PodCertificates } from './pod-certificates.ts'

const HOUR_MS = 3_600_000
const never = new AbortController().signal
const pod = createPod({
  metadata: { uid: 'u-1', name: 'web', namespace: 'shop' },
  spec: { serviceAccountName: 'robot' },
})
const source = {
  signerName: 'example.com/signer',
  keyType: 'ECDSAP256',
  credentialBundlePath: 'bundle',
  maxExpirationSeconds: 86_400,
  userAnnotations: { 'example.com/a': 'b' },
}
const chain = (await createCertificate(Date.now(), HOUR_MS)).certificatePem

function start(t: TestContext) {
  const [clock, api, stop] = [new FakeClock(Date.UTC(2026, 0, 1)), new FakeCertificatesApi(), new AbortController()]
  const tasks = new TaskGroup(stop.signal)
  const reported: string[] = []
  const certificates = new PodCertificates({
    client: api,
    nodeName: 'node-1',
    nodeUid: () => 'node-uid',
    events: { record: (_, { reason, message }) => void reported.push(`${reason}: ${message}`) },
    tasks,
    clock,
    random: () => 0,
    log: silentLogger,
  })
  t.after(async () => {
    stop.abort(new Error('the test ends'))
    await tasks.join()
  })
  const get = (index = 0) => certificates.get({ pod, volume: 'tls', index, source }, never)
  const requested = async (count: number) => {
    while (api.requests.length < count) await setImmediate()
  }
  /** The signer issues the newest request, good for an hour, to be renewed after half of it. */
  const issue = () => {
    const [refresh, end] = [HOUR_MS / 2, HOUR_MS].map((ms) => new Date(clock.now() + ms).toISOString())
    const conditions = [{ type: 'Issued', status: 'True', reason: 'R', message: 'm' }]
    api.answer({ conditions, certificateChain: `words\n${chain}`, beginRefreshAt: refresh, notAfter: end })
  }
  /** Asks until it is another than before: a request under way is not waited for. */
  const next = async (before: string) => {
    for (;;) {
      const { keyPem } = await get()
      if (keyPem !== before) return keyPem
      await setImmediate()
    }
  }
  return { clock, api, certificates, reported, get, requested, issue, next }
}

describe('PodCertificates', () => {
  test('asks for a certificate in the name of the pod, and gives it out until it is to be renewed', async (t) => {
    const { clock, api, reported, get, requested, issue, next } = start(t)
    const first = get()
    await requested(1)
    const { stubPKCS10Request, ...spec } = api.requests[0]?.spec ?? {}
    assert.deepEqual(spec, {
      signerName: 'example.com/signer',
      podName: 'web',
      podUID: 'u-1',
      serviceAccountName: 'robot',
      serviceAccountUID: 'account-uid',
      nodeName: 'node-1',
      nodeUID: 'node-uid',
      maxExpirationSeconds: 86_400,
      unverifiedUserAnnotations: { 'example.com/a': 'b' },
    })
    assert.ok(api.asked.includes('GET /apis/certificates.k8s.io/v1beta1/podcertificaterequests spec.nodeName=node-1'))
    issue()
    const { keyPem, chainPem } = await first
    assert.equal(chainPem, chain)
    const x509 = await loadX509()
    const request = new x509.Pkcs10CertificateRequest(Buffer.from(String(stubPKCS10Request), 'base64'))
    const own = createPublicKey(createPrivateKey(keyPem)).export({ type: 'spki', format: 'der' })
    assert.deepEqual(Buffer.from(request.publicKey.rawData), own, 'it is for the key of the pod')
    assert.ok(await request.verify())

    await clock.advance(HOUR_MS / 2 - 1)
    assert.equal((await get()).keyPem, keyPem)
    await clock.advance(1)
    assert.equal((await get()).keyPem, keyPem, 'nobody waits for a new one')
    await requested(2)
    issue()
    assert.notEqual(await next(keyPem), keyPem)
    assert.deepEqual(reported, [])
  })

  for (const [type, verb] of [
    ['Denied', 'was denied'],
    ['Failed', 'failed'],
  ] as const) {
    test(`${type} is for good, and reported on the pod`, async (t) => {
      const { clock, api, reported, get, requested } = start(t)
      const refused = assert.rejects(get(), {
        message: `Cannot have a certificate for the pod: the signer said ${type}: NoWay: not you`,
      })
      await requested(1)
      api.answer({ conditions: [{ type, status: 'True', reason: 'NoWay', message: 'not you' }] })
      await refused
      await clock.advance(HOUR_MS / 4)
      await assert.rejects(get(), /NoWay/)
      assert.deepEqual(
        [reported, api.requests.length],
        [[`${type}: PodCertificateRequest shop/req-1 ${verb}, reason="NoWay", message="not you"`], 1],
      )
    })
  }

  test('each source of each volume has one of its own', async (t) => {
    const { api, get, requested, issue } = start(t)
    const first = get(0)
    await requested(1)
    issue()
    const second = get(1)
    await requested(2)
    issue()
    assert.notEqual((await first).keyPem, (await second).keyPem)
    assert.equal(api.requests.length, 2)
  })

  test('a signer that takes its time fails the try, not the request', async (t) => {
    const { clock, api, get, requested, issue } = start(t)
    const slow = assert.rejects(get(), /the certificate of signer "example.com\/signer"/)
    await requested(1)
    await clock.advance(30_000)
    await slow
    const again = get()
    issue()
    assert.equal((await again).chainPem, chain)
    assert.equal(api.requests.length, 1)
  })

  test('a request that is deleted, or has no answer for ten minutes, is made again', async (t) => {
    const { clock, api, get, requested, issue } = start(t)
    const deleted = assert.rejects(get(), /did not answer in time, or the request was deleted/)
    await requested(1)
    await clock.advance(0)
    api.requests.length = 0
    await deleted
    const unanswered = assert.rejects(get())
    await requested(1)
    await clock.advance(600_000)
    await unanswered
    const good = get()
    await requested(2)
    issue()
    assert.equal((await good).chainPem, chain)
  })

  test('reports once that a certificate should have been renewed, and once that it has ended', async (t) => {
    const { clock, reported, get, requested, issue } = start(t)
    const first = get()
    await requested(1)
    issue()
    const { keyPem } = await first
    for (const minutes of [30, 11, 1, 20, 1]) {
      await clock.advance(minutes * 60_000)
      assert.equal((await get()).keyPem, keyPem)
    }
    assert.deepEqual(reported, [
      'CertificateOverdueForRefresh: PodCertificate refresh overdue',
      'CertificateExpired: PodCertificate expired',
    ])
  })

  test('has a state for metrics, from the first question to the end', async (t) => {
    const { api, clock, certificates, get, requested, issue } = start(t)
    const states = () => certificates.states().map(({ signer, state }) => `${signer} ${state}`)
    const first = get()
    await requested(1)
    assert.deepEqual(states(), ['example.com/signer not_yet_issued'])
    issue()
    await first
    assert.deepEqual(states(), ['example.com/signer fresh'])
    await clock.advance(HOUR_MS / 2 + 600_001)
    assert.deepEqual(states(), ['example.com/signer overdue_for_refresh'])
    await clock.advance(HOUR_MS / 2)
    assert.deepEqual(states(), ['example.com/signer expired'])
    const second = get(1)
    await requested(2)
    api.answer({ conditions: [{ type: 'Denied', status: 'True', reason: 'R', message: 'm' }] })
    await assert.rejects(second)
    assert.deepEqual(states(), ['example.com/signer denied'], 'the other one is forgotten')
  })

  test('forgets those that no volume asks for any more', async (t) => {
    const { clock, certificates, get, requested, issue } = start(t)
    const first = get(0)
    await requested(1)
    issue()
    await first
    await clock.advance(1_800_001)
    const other = get(1)
    await requested(2)
    issue()
    await other
    assert.equal(certificates.size, 1)
  })
})

describe('createPodKey()', () => {
  for (const [type, kind, size] of [
    ['RSA3072', 'rsa', 3072],
    ['ECDSAP256', 'ec', 'prime256v1'],
    ['ECDSAP384', 'ec', 'secp384r1'],
    ['ECDSAP521', 'ec', 'secp521r1'],
    ['ED25519', 'ed25519', undefined],
  ] as const) {
    test(`makes ${type}, with a request that proves it`, async () => {
      const { keyPem, stubRequest } = await createPodKey(type)
      assert.match(keyPem, /^-----BEGIN PRIVATE KEY-----\n/)
      const key = createPrivateKey(keyPem)
      const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {}
      assert.deepEqual([key.asymmetricKeyType, modulusLength ?? namedCurve], [kind, size])
      const x509 = await loadX509()
      const request = new x509.Pkcs10CertificateRequest(Buffer.from(stubRequest, 'base64'))
      assert.ok(await request.verify())
      assert.equal(request.subject, '')
    })
  }

  test('knows no other', async () => {
    await assert.rejects(createPodKey('DSA'), /Cannot make a key of type "DSA": expected one of RSA3072/)
  })
})

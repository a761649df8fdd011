import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeSigner } from '../../../test/fakes/fake-signer.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { until } from '../../../test/fakes/until.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import { setAside } from '../../system/files/state/durable-file.ts'
import { CertificateStore } from './certificate-store.ts'
import { CurrentCertificate } from './current-certificate.ts'
import { runCertificateRotation } from './run-certificate-rotation.ts'
import { toCertificateInfo } from './to-certificate-info.ts'
import { SERVING_SIGNER, wantedForNode } from './wanted-certificate.ts'
import type { WantedCertificate } from './wanted-certificate.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

const DAY_MS = 24 * 3_600_000

/** A rotation that runs, with a signer in reach. */
async function start(t: TestContext, policy: FakeSigner['policy'] = 'sign') {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-rotation-'))
  const clock = new FakeClock()
  const signer = await FakeSigner.create(clock)
  signer.policy = policy
  const current = new CurrentCertificate(clock)
  const seen = { changes: 0, errors: 0, rotated: [] as number[], isServerThere: undefined as boolean | undefined }
  current.onChange(() => (seen.changes += 1))
  const desired: { value: WantedCertificate | undefined } = {
    value: { ...wantedForNode('node-1'), dnsNames: ['node-1'], addresses: ['192.0.2.1'] },
  }
  const apiReturn = new ApiReturn()
  const controller = new AbortController()
  const running = runCertificateRotation(
    {
      apiReturn,
      signer: SERVING_SIGNER,
      store: new CertificateStore({ folder, prefix: 'kubelet-server', setAside, clock, log: silentLogger }),
      current,
      wanted: () => desired.value,
      checkEveryMs: 1000,
      connect: async () => signer,
      isTemporary: false,
      onAnswer: (isThere) => (seen.isServerThere = isThere),
      metrics: { renewError: () => (seen.errors += 1), rotated: (seconds) => seen.rotated.push(seconds) },
      clock,
      random: () => 0,
      log: silentLogger,
    },
    controller.signal,
  )
  running.catch(() => {})
  t.after(async () => {
    controller.abort(new Error('The test ends'))
    await assert.rejects(running, /The test ends/)
    assert.equal(clock.sleeping, 0)
    rmSync(folder, { recursive: true })
  })
  return { clock, signer, current, seen, desired, apiReturn }
}

describe('runCertificateRotation()', () => {
  test('asks for a certificate when there is none, with what is wanted in it', async (t) => {
    const { signer, current, seen } = await start(t)
    await until(() => seen.changes === 1)
    const { signerName, usages } = signer.requests[0]?.spec ?? {}
    assert.deepEqual([signerName, usages], ['kubernetes.io/kubelet-serving', ['digital signature', 'server auth']])
    assert.ok(current.held)
    const { notBefore: _, notAfter: __, ...names } = toCertificateInfo(current.held.certificate)
    assert.deepEqual(names, {
      commonName: 'system:node:node-1',
      organizations: ['system:nodes'],
      dnsNames: ['node-1'],
      addresses: ['192.0.2.1'],
    })
    assert.equal(current.current(), current.held)
    assert.equal(current.ttlSeconds(), 100 * 24 * 3600)
    assert.deepEqual([seen.errors, seen.rotated, seen.isServerThere], [0, [], true])
  })

  test('asks again at the time that was drawn for the certificate, once', async (t) => {
    const { clock, signer, current, seen } = await start(t)
    await until(() => seen.changes === 1)
    await until(() => clock.sleeping === 1)
    const first = current.current()
    // 70 % of a life of 100 days that began five minutes before it was made.
    const dueMs = 70 * DAY_MS - 0.3 * 5 * 60_000
    clock.step(dueMs - 5000)
    await clock.advance(1000)
    assert.equal(signer.requests.length, 1)
    clock.step(5000)
    await clock.advance(1000)
    await until(() => seen.changes === 2)
    assert.notEqual(current.current(), first)
    assert.equal(signer.requests.length, 2)
    assert.deepEqual(
      seen.rotated.map((seconds) => Math.round(seconds / 86_400)),
      [70],
    )
  })

  test('asks seldom for an approval that takes long, when the server has no watches for it', async (t) => {
    const { clock, signer, seen } = await start(t, 'wait')
    signer.refusesWatches = true
    await until(() => signer.requests.length === 1)
    await clock.advance(10 * 60_000)
    assert.ok(signer.reads > 15 && signer.reads <= 25, `${signer.reads} times in ten minutes`)
    signer.policy = 'sign'
    await signer.decide()
    await clock.advance(30_000)
    await until(() => seen.changes === 1)
    assert.equal(signer.requests.length, 1)
  })

  test('waits for approval; a watch that reports it is enough', async (t) => {
    const { clock, signer, seen } = await start(t, 'wait')
    await until(() => signer.requests.length === 1)
    await clock.advance(10_000)
    assert.equal(seen.changes, 0)
    signer.policy = 'sign'
    await signer.decide()
    await until(() => seen.changes === 1)
    assert.equal(signer.requests.length, 1)
  })

  test('asks again after 15 minutes without a decision', async (t) => {
    const { clock, signer, seen } = await start(t, 'wait')
    await until(() => signer.requests.length === 1)
    // The deadline, and the check of what is wanted.
    await until(() => clock.sleeping === 2)
    await clock.advance(15 * 60_000)
    await until(() => seen.errors === 1)
    await clock.advance(2000)
    await until(() => signer.requests.length === 2)
  })

  test('asks at once for something else when the addresses change, also while it waits', async (t) => {
    const { clock, signer, seen, desired } = await start(t, 'wait')
    await until(() => signer.requests.length === 1)
    await until(() => clock.sleeping === 2)
    signer.policy = 'sign'
    desired.value = { ...wantedForNode('node-1'), dnsNames: [], addresses: ['192.0.2.2'] }
    await clock.advance(1000)
    await until(() => seen.changes === 1)
    assert.equal(signer.requests.length, 2)
    await until(() => clock.sleeping === 1)
    desired.value = { ...desired.value, addresses: ['192.0.2.2', '192.0.2.3'] }
    await clock.advance(1000)
    await until(() => seen.changes === 2)
    // Less than before is no reason to ask.
    await until(() => clock.sleeping === 1)
    desired.value = { ...desired.value, addresses: ['192.0.2.3'] }
    await clock.advance(60_000)
    assert.deepEqual([seen.changes, seen.errors, signer.requests.length], [2, 0, 3])
  })

  test('asks for nothing as long as it does not know for what', async (t) => {
    const { clock, signer, seen, desired } = await start(t, 'wait')
    await until(() => signer.requests.length === 1)
    await until(() => clock.sleeping === 2)
    desired.value = undefined
    signer.policy = 'sign'
    await clock.advance(3600_000)
    assert.deepEqual([seen.changes, signer.requests.length], [0, 1])
  })

  const failures: readonly (readonly [
    name: string,
    policy: FakeSigner['policy'],
    isServerThere: boolean | undefined,
  ])[] = [
    ['denied', 'deny', undefined],
    ['failed', 'fail', undefined],
    ['the server is away', new KubeUnreachableError('away'), false],
    ['the server does not know us', new KubeApiError('who?', { code: 401, reason: 'Unauthorized' }), true],
    ['we may not ask', new KubeApiError('no', { code: 403, reason: 'Forbidden' }), true],
    ['the server is broken', new KubeApiError('oh', { code: 500, reason: 'InternalError' }), false],
  ]
  for (const [name, policy, isServerThere] of failures) {
    test(`tries again after 2, 4, 8, 16, 32, 32 … s: ${name}`, async (t) => {
      const { clock, signer, seen } = await start(t, policy)
      const delays = [2000, 4000, 8000, 16_000, 32_000, 32_000]
      for (const [index, delay] of delays.entries()) {
        await until(() => seen.errors === index + 1 && clock.sleeping > 0)
        await clock.advance(delay - 1)
        assert.equal(seen.errors, index + 1)
        await clock.advance(1)
      }
      await until(() => seen.errors === delays.length + 1 && clock.sleeping > 0)
      assert.deepEqual([seen.changes, seen.isServerThere], [0, isServerThere])
      signer.policy = 'sign'
      await clock.advance(32_000)
      await until(() => seen.changes === 1)
      assert.equal(seen.isServerThere, true)
    })
  }

  test('tries at once when the API answers others, unless it was the API that said no', async (t) => {
    for (const [policy, changes] of [
      [new KubeUnreachableError('away'), 1],
      [new KubeApiError('no', { code: 403, reason: 'Forbidden' }), 0],
    ] as const) {
      const { clock, signer, seen, apiReturn } = await start(t, policy)
      await until(() => seen.errors === 1 && clock.sleeping > 0)
      signer.policy = 'sign'
      apiReturn.reached()
      if (changes > 0) await until(() => seen.changes === changes)
      else await clock.advance(0)
      assert.equal(seen.changes, changes)
    }
  })

  test('a certificate that has ended when it comes is not used', async (t) => {
    const { clock, signer, current, seen } = await start(t, 'wait')
    await until(() => signer.requests.length === 1)
    await until(() => clock.sleeping === 2)
    signer.policy = 'sign'
    signer.lifetimeMs = -60_000
    await signer.decide()
    await until(() => seen.errors === 1)
    assert.equal(current.held, undefined)
  })

  test('a clock that is moved past the end of the certificate is noticed', async (t) => {
    const { clock, current, seen } = await start(t)
    await until(() => seen.changes === 1 && clock.sleeping > 0)
    clock.step(200 * DAY_MS)
    assert.equal(current.current(), undefined)
    assert.equal(current.ttlSeconds(), Infinity)
    await clock.advance(1000)
    await until(() => seen.changes === 2)
    assert.notEqual(current.current(), undefined)
  })
})

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ensureKubeconfig } from './client-kubeconfig.ts'
import { openPki } from './open-pki.ts'
import { runRenewal } from './run-renewal.ts'
import { isIssuedBy } from './is-issued-by.ts'
import { ensureServingCertificate } from './serving-certificate.ts'

const DAY_MS = 24 * 3_600_000

async function createPki(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-serving-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const deps = { clock: new FakeClock(), log: silentLogger }
  return { ...deps, deps, folder, pki: await openPki(folder, deps) }
}

describe('ensureServingCertificate()', () => {
  test('is for localhost, the names that pods use, and what was given', async (t) => {
    const { pki, deps } = await createPki(t)
    const { certificate } = await ensureServingCertificate(pki, ['Node-1', '192.0.2.1', '2001:DB8::0:1'], deps)
    assert.ok(isIssuedBy(certificate, pki.authority.certificate))
    for (const name of ['localhost', 'kubernetes.default.svc', 'node-1']) assert.ok(certificate.checkHost(name), name)
    for (const address of ['127.0.0.1', '::1', '192.0.2.1', '2001:db8::1'])
      assert.ok(certificate.checkIP(address), address)
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    assert.equal(certificate.ca, false)
  })

  test('stays while it is good, and is replaced before it ends or for other names', async (t) => {
    const { pki, deps, clock } = await createPki(t)
    const serials: string[] = []
    const ensure = async (names: readonly string[]) =>
      serials.push((await ensureServingCertificate(pki, names, deps)).certificate.serialNumber)
    await ensure(['a'])
    await ensure(['a'])
    await clock.advance(240 * DAY_MS)
    await ensure(['a'])
    await clock.advance(4 * DAY_MS)
    await ensure(['a'])
    await ensure(['a', 'b'])
    await ensure(['b', 'a'])
    const [first, ...others] = serials.map((serial) => serials.indexOf(serial))
    assert.deepEqual([first, ...others], [0, 0, 0, 3, 4, 4])
  })

  test('sets a broken one aside', async (t) => {
    const { pki, deps, folder } = await createPki(t)
    await ensureServingCertificate(pki, [], deps)
    writeFileSync(join(folder, 'serving.pem'), 'nothing')
    await ensureServingCertificate(pki, [], deps)
    assert.equal(readdirSync(folder).filter((name) => name.startsWith('serving.pem.broken-')).length, 1)
  })

  test('never outlives its authority', async (t) => {
    const { pki, deps, clock } = await createPki(t)
    await clock.advance(3600 * DAY_MS)
    const { certificate } = await ensureServingCertificate(pki, [], deps)
    assert.equal(certificate.validTo, pki.authority.certificate.validTo)
  })
})

describe('runRenewal()', () => {
  test('brings a new certificate when names change, and repairs kubeconfig files', async (t) => {
    const { pki, clock, log, folder } = await createPki(t)
    const identity = { path: join(folder, 'x.kubeconfig'), user: 'u', groups: [] }
    const seen = new Set<string>()
    const stop = new AbortController()
    let names = ['a']
    const running = runRenewal(
      {
        pki,
        clock,
        log,
        onKubeletClientCertificate: () => {},
        identities: [identity],
        server: 'https://127.0.0.1:1',
        servingNames: () => names,
        onServingCertificate: ({ certificate }) => void seen.add(certificate.serialNumber),
      },
      stop.signal,
    )
    const next = async (wanted: number) => {
      await clock.advance(60_000)
      while (seen.size < wanted || clock.sleeping === 0) await setImmediate()
    }
    await next(1)
    names = ['a', 'b']
    await next(2)
    await next(2)
    assert.equal(seen.size, 2)
    await ensureKubeconfig(pki, identity, 'https://127.0.0.1:1', { clock, log })
    stop.abort(new Error('done'))
    await assert.rejects(running, /done/)
    assert.equal(clock.sleeping, 0)
  })
})

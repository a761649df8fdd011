import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createCertificate } from '../../../test/builders/create-certificate.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeSigner } from '../../../test/fakes/fake-signer.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { until } from '../../../test/fakes/until.ts'
import { setAside } from '../../system/files/state/durable-file.ts'
import { openServingCertificates } from './open-serving-certificates.ts'
import type { ServingCertificates, ServingCertificatesDeps } from './open-serving-certificates.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-serving-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const clock = new FakeClock()
  const aside: string[] = []
  const open = async (change: Partial<ServingCertificatesDeps> = {}) =>
    await openServingCertificates({
      apiReturn: new ApiReturn(),
      nodeName: 'node-1',
      folder,
      tlsCertFile: '',
      tlsPrivateKeyFile: '',
      serverTLSBootstrap: false,
      reloads: true,
      allowsNamesOnly: false,
      nodeIps: ['192.0.2.1'],
      nodeAddresses: () => [],
      client: undefined,
      metrics: { renewError() {}, rotated() {} },
      setAside: async (paths, suffix) => {
        aside.push(...paths)
        await setAside(paths, suffix)
      },
      clock,
      random: () => 0,
      log: silentLogger,
      ...change,
    })
  const run = (certificates: ServingCertificates) => {
    const controller = new AbortController()
    const running = certificates.run(controller.signal)
    running.catch(() => {})
    t.after(async () => {
      controller.abort(new Error('The test ends'))
      await assert.rejects(running, /The test ends/)
      assert.equal(clock.sleeping, 0)
    })
  }
  const files = { tlsCertFile: join(folder, 'tls.crt'), tlsPrivateKeyFile: join(folder, 'tls.key') }
  const write = (pair: { readonly certificatePem: string; readonly keyPem: string }) => {
    writeFileSync(files.tlsCertFile, pair.certificatePem)
    writeFileSync(files.tlsPrivateKeyFile, pair.keyPem)
  }
  const create = async () => await createCertificate(clock.now(), HOUR_MS)
  return { folder, clock, open, run, files, write, create, aside }
}

describe('openServingCertificates() with files', () => {
  test('uses them, and what is written to them later', async (t) => {
    const { open, run, files, write, create, clock } = place(t)
    const [first, second] = [await create(), await create()]
    write(first)
    const certificates = await open(files)
    assert.equal(certificates.current()?.keyPem, first.keyPem)
    assert.equal(certificates.ttlSeconds(), 3600)
    const changed = Promise.withResolvers<void>()
    certificates.onChange(changed.resolve)
    run(certificates)
    await clock.advance(0)
    write(second)
    // The kernel reports it; the clock stands still.
    await changed.promise
    assert.equal(certificates.current()?.keyPem, second.keyPem)
    assert.equal(certificates.current()?.certificatePem, second.certificatePem)
  })

  test('sees within a minute what the kernel does not report', async (t) => {
    const { open, run, files, write, create, clock, folder } = place(t)
    const [first, second] = [await create(), await create()]
    write(first)
    const certificates = await open(files)
    run(certificates)
    await clock.advance(0)
    // The folder is another one now, and it has no watch.
    renameSync(folder, `${folder}-old`)
    t.after(() => rmSync(`${folder}-old`, { recursive: true }))
    const other = mkdtempSync(join(tmpdir(), 'deckhand-serving-'))
    renameSync(other, folder)
    await until(() => clock.sleeping === 1)
    write(second)
    await clock.advance(60_000)
    await until(() => certificates.current()?.keyPem === second.keyPem)
  })

  test('keeps what it has while the files are not valid', async (t) => {
    const { open, run, files, write, create, clock } = place(t)
    const [first, second] = [await create(), await create()]
    write(first)
    const certificates = await open(files)
    run(certificates)
    writeFileSync(files.tlsCertFile, second.certificatePem)
    await clock.advance(60_000)
    rmSync(files.tlsCertFile)
    await clock.advance(60_000)
    assert.equal(certificates.current()?.keyPem, first.keyPem)
    write(second)
    await until(() => certificates.current()?.keyPem === second.keyPem)
  })

  test('stays with them as they were when the gate is off', async (t) => {
    const { open, files, write, create } = place(t)
    write(await create())
    const certificates = await open({ ...files, reloads: false })
    await certificates.run(new AbortController().signal)
  })

  test('cannot start without them', async (t) => {
    const { open, files, create } = place(t)
    await assert.rejects(
      open(files),
      /Cannot use the serving certificate of ".*tls.crt" and ".*tls.key": expected both/,
    )
    writeFileSync(files.tlsCertFile, (await create()).certificatePem)
    writeFileSync(files.tlsPrivateKeyFile, (await create()).keyPem)
    await assert.rejects(open(files), /its key belongs to another certificate/)
  })
})

describe('openServingCertificates() with nothing', () => {
  test('makes a certificate for the name and the addresses of the node, with its authority, for a year', async (t) => {
    const { open, folder, clock } = place(t)
    const certificates = await open()
    const pem = readFileSync(join(folder, 'kubelet.crt'), 'utf8')
    assert.deepEqual(
      [certificates.current()?.certificatePem, certificates.current()?.keyPem],
      [pem, readFileSync(join(folder, 'kubelet.key'), 'utf8')],
    )
    const [leaf, authority] = pem.split(/(?=-----BEGIN)/).map((each) => new X509Certificate(each))
    assert.ok(leaf && authority)
    assert.equal(leaf.subjectAltName, 'DNS:node-1, IP Address:192.0.2.1')
    assert.deepEqual([leaf.subject, leaf.issuer], ['CN=node-1@1767225600', 'CN=node-1-ca@1767225600'])
    assert.ok(leaf.verify(authority.publicKey))
    assert.equal(leaf.validToDate.getTime(), clock.now() + YEAR_MS)
    assert.equal(statSync(join(folder, 'kubelet.key')).mode & 0o777, 0o600)
  })

  test('finds it again', async (t) => {
    const { open } = place(t)
    const first = await open()
    assert.equal((await open()).current()?.keyPem, first.current()?.keyPem)
  })

  for (const name of ['kubelet.crt', 'kubelet.key']) {
    test(`makes another one when ${name} is gone, or broken`, async (t) => {
      const { open, folder, aside } = place(t)
      const first = await open()
      rmSync(join(folder, name))
      const second = await open()
      assert.notEqual(second.current()?.keyPem, first.current()?.keyPem)
      writeFileSync(join(folder, name), 'half')
      assert.notEqual((await open()).current()?.keyPem, second.current()?.keyPem)
      assert.equal(readdirSync(folder).filter((each) => each.includes('.broken-')).length, 2)
      assert.deepEqual(
        aside.slice(-2),
        ['kubelet.crt', 'kubelet.key'].map((each) => join(folder, each)),
      )
    })
  }

  test('makes another one when it has ended, also while the agent runs', async (t) => {
    const { open, run, clock } = place(t)
    const certificates = await open()
    const first = certificates.current()?.keyPem
    await clock.advance(YEAR_MS + 1000)
    run(certificates)
    await until(() => certificates.current()?.keyPem !== first)
  })

  test('leaves what others put there, also when it has ended', async (t) => {
    const { open, clock, create, folder } = place(t)
    const theirs = await create()
    writeFileSync(join(folder, 'kubelet.crt'), theirs.certificatePem)
    writeFileSync(join(folder, 'kubelet.key'), theirs.keyPem)
    await clock.advance(2 * HOUR_MS)
    assert.equal((await open()).current()?.keyPem, theirs.keyPem)
  })
})

describe('openServingCertificates() with serverTLSBootstrap', () => {
  test('has none until the node has an address and the cluster has signed', async (t) => {
    const { open, run, clock, folder } = place(t)
    const signer = await FakeSigner.create(clock)
    const addresses = [{ type: 'Hostname', address: 'node-1' }]
    const requested = { serverTLSBootstrap: true, client: signer, nodeAddresses: () => [...addresses] }
    const certificates = await open(requested)
    run(certificates)
    await clock.advance(60_000)
    assert.deepEqual(
      [certificates.current(), certificates.ttlSeconds(), signer.requests.length],
      [undefined, Infinity, 0],
    )
    addresses.push({ type: 'InternalIP', address: '192.0.2.7' })
    await clock.advance(1000)
    await until(() => certificates.current() !== undefined)
    const { subjectAltName } = new X509Certificate(certificates.current()?.certificatePem ?? '')
    assert.equal(subjectAltName, 'DNS:node-1, IP Address:192.0.2.7')
    assert.equal(readdirSync(folder).includes('kubelet-server-current.pem'), true)
    // And has it again after a restart.
    assert.equal((await open(requested)).current()?.keyPem, certificates.current()?.keyPem)
  })

  test('a certificate that has ended is not shown', async (t) => {
    const { open, files, write, create, clock } = place(t)
    write(await create())
    const requested = { ...files, serverTLSBootstrap: true }
    assert.notEqual((await open(requested)).current(), undefined)
    await clock.advance(2 * HOUR_MS)
    assert.equal((await open(requested)).current(), undefined)
  })

  test('with the gate a name is enough', async (t) => {
    const { open, run, clock } = place(t)
    const signer = await FakeSigner.create(clock)
    const certificates = await open({
      serverTLSBootstrap: true,
      allowsNamesOnly: true,
      client: signer,
      nodeAddresses: () => [{ type: 'Hostname', address: 'node-1' }],
    })
    run(certificates)
    await until(() => certificates.current() !== undefined)
  })
})

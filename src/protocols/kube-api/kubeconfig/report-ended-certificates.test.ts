import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCertificate } from '../../../../test/builders/create-certificate.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { ClientCertificateSource } from './client-certificate-source.ts'
import type { PemSource } from './kubeconfig.ts'
import { reportEndedCertificates } from './report-ended-certificates.ts'

const HOUR_MS = 3_600_000

/** Certificates of one kubeconfig file; lines are what the log says of their end. */
function setUp() {
  const clock = new FakeClock()
  const files = new Map<string, string>()
  const lines: unknown[] = []
  const report = reportEndedCertificates({ ...silentLogger, error: (_, fields) => void lines.push(fields) })
  const open = (certificate: PemSource, key: PemSource) =>
    new ClientCertificateSource(
      { certificate, key },
      {
        files: { readFile: async (path) => Buffer.from(files.get(path) ?? '') },
        onEnded: (ended) => report('/kubelet.conf', ended),
        clock,
        log: silentLogger,
      },
    )
  const create = async () => await createCertificate(clock.now(), HOUR_MS)
  return { clock, files, lines, open, create }
}

describe('reportEndedCertificates()', () => {
  test('reports a certificate in a file when it ends, once, and again for another that has ended', async () => {
    const { clock, files, lines, open, create } = setUp()
    const pem = { kind: 'file', path: '/pem' } as const
    const [first, second] = [await create(), await create()]
    files.set('/pem', first.certificatePem + first.keyPem)
    const source = open(pem, pem)
    await source.current()
    assert.deepEqual(lines, [])
    await clock.advance(HOUR_MS + 1000)
    await source.current()
    await source.current()
    // Each attempt to get a new certificate has a connection of its own.
    await open(pem, pem).current()
    const line = { file: '/pem', endedAt: first.certificate.validToDate.toISOString() }
    assert.deepEqual(lines, [line])
    files.set('/pem', second.certificatePem + second.keyPem)
    await clock.advance(60_000)
    await source.current()
    assert.deepEqual(lines, [line, { ...line, endedAt: second.certificate.validToDate.toISOString() }])
  })

  test('names the kubeconfig file when the certificate stands in it', async () => {
    const { clock, lines, open, create } = setUp()
    const { certificatePem, keyPem, certificate } = await create()
    await clock.advance(HOUR_MS + 1000)
    await open({ kind: 'data', pem: certificatePem }, { kind: 'data', pem: keyPem }).current()
    assert.deepEqual(lines, [{ file: '/kubelet.conf', endedAt: certificate.validToDate.toISOString() }])
  })
})

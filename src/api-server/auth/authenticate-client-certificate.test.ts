import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import type { Authority, CertificateContent } from '../../protocols/x509/issue-certificate.ts'
import { authenticateClientCertificate } from './authenticate-client-certificate.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000

async function createAuthority(commonName: string): Promise<Authority> {
  const keys = createKeys()
  const pem = await issueAuthority(keys, { commonName, lifetimeMs: 1000 * HOUR_MS }, NOW)
  const { certificate, certificatePem, key } = parseKeyedCertificate(`${pem}${toKeyPem(keys.privateKey)}`)
  return { certificate, pem: certificatePem, key }
}

const authority = await createAuthority('one')
// Of the same name, as an impostor would call it.
const impostor = await createAuthority('one')

async function issue(by: Authority, change: Partial<CertificateContent> = {}): Promise<X509Certificate> {
  const content: CertificateContent = {
    commonName: 'jane',
    organizations: ['dev', 'ops'],
    publicKey: createKeys().publicKey,
    names: [],
    usages: ['client'],
    lifetimeMs: HOUR_MS,
    ...change,
  }
  return new X509Certificate(await issueCertificate(by, content, NOW))
}

describe('authenticateClientCertificate()', () => {
  test('takes the user from the common name and the groups from the organizations', async () => {
    const certificate = await issue(authority)
    const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
    assert.deepEqual(authenticateClientCertificate(certificate, authority.certificate, NOW), {
      user: {
        name: 'jane',
        groups: ['dev', 'ops', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
      },
    })
  })

  test('a line break in a name makes no second one', async () => {
    const certificate = await issue(authority, { commonName: 'jane\nO=system:masters', organizations: [] })
    const { user } = authenticateClientCertificate(certificate, authority.certificate, NOW)
    assert.deepEqual([user?.name, user?.groups], ['jane\nO=system:masters', ['system:authenticated']])
  })

  const rows: readonly (readonly [name: string, make: () => Promise<X509Certificate>, at: number, fault: string])[] = [
    ['of another authority', () => issue(impostor), NOW, 'another authority signed the certificate'],
    ['that has expired', () => issue(authority), NOW + HOUR_MS + 1, 'the certificate has expired'],
    ['of the future', () => issue(authority), NOW - HOUR_MS, 'the certificate is not valid yet'],
    ['of a server', () => issue(authority, { usages: ['server'] }), NOW, 'the certificate is not for clients'],
    ['for nothing', () => issue(authority, { usages: [] }), NOW, 'the certificate is not for clients'],
    [
      'without a name',
      () => issue(authority, { commonName: '' }),
      NOW,
      'the certificate does not have one common name',
    ],
    [
      'of the authority itself',
      () => Promise.resolve(authority.certificate),
      NOW,
      'the certificate is that of an authority',
    ],
  ]
  for (const [name, make, at, fault] of rows) {
    test(`rejects one ${name}`, async () => {
      assert.deepEqual(authenticateClientCertificate(await make(), authority.certificate, at), { fault })
    })
  }

  test('is valid a little before it was made, for clocks that are behind', async () => {
    const certificate = await issue(authority)
    assert.ok(authenticateClientCertificate(certificate, authority.certificate, NOW - 299_000).user)
  })
})

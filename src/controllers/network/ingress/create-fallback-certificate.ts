import { X509Certificate } from 'node:crypto'
import { createKeys, toKeyPem } from '../../../protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../../protocols/x509/issue-certificate.ts'
import type { PemPair } from './certificate-table.ts'

const LIFETIME_MS = 10 * 365 * 24 * 3_600_000
const COMMON_NAME = 'Deckhand ingress without a certificate'

/** A certificate that no client trusts: clients of a host without one learn that, and those of others are not disturbed. */
export async function createFallbackCertificate(now: number): Promise<PemPair> {
  const signer = createKeys()
  const { publicKey, privateKey } = createKeys()
  const content = { commonName: COMMON_NAME, lifetimeMs: LIFETIME_MS }
  const pem = await issueAuthority(signer, content, now)
  const authority = { certificate: new X509Certificate(pem), pem, key: signer.privateKey }
  const names = ['ingress.invalid']
  const cert = await issueCertificate(
    authority,
    { ...content, organizations: [], publicKey, names, usages: ['server'] },
    now,
  )
  return { cert, key: toKeyPem(privateKey) }
}

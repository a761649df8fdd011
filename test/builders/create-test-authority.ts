import { webcrypto } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const HOUR_MS = 3_600_000

/** A certificate of a test with its key, which can sign others. */
export interface TestCertificate {
  readonly certificate: x509.X509Certificate
  readonly keys: webcrypto.CryptoKeyPair
  readonly certificatePem: string
  readonly keyPem: string
}

/** Who signs a certificate. */
export interface TestIssuer {
  readonly certificate: Pick<x509.X509Certificate, 'subjectName'>
  readonly keys: Pick<webcrypto.CryptoKeyPair, 'privateKey'>
}

export interface TestCertificateContent {
  readonly subject?: x509.JsonName
  /** Without one, the certificate signs itself. */
  readonly issuer?: TestIssuer | undefined
  readonly isAuthority?: boolean
  /** OIDs; undefined leaves the extension out. */
  readonly usages?: readonly string[] | undefined
  readonly from?: number
  readonly until?: number
  /** Of the signature. */
  readonly hash?: string
  /** The OID of a critical extension; its value means nothing. */
  readonly criticalExtension?: string
}

export const CLIENT_AUTH: string = x509.ExtendedKeyUsage.clientAuth
export const SERVER_AUTH: string = x509.ExtendedKeyUsage.serverAuth

/** An authority that was made elsewhere, as one that signs certificates of tests. */
export function toTestIssuer({ pem, key }: { readonly pem: string; readonly key: KeyObject }): TestIssuer {
  return {
    certificate: new x509.X509Certificate(pem),
    keys: { privateKey: key.toCryptoKey(ALGORITHM, false, ['sign']) },
  }
}

/** Makes a certificate that is valid now by default. */
export async function createTestCertificate(content: TestCertificateContent): Promise<TestCertificate> {
  const { subject = [{ CN: ['test'] }], issuer, isAuthority = false, usages, from, until, hash = 'SHA-256' } = content
  const { criticalExtension } = content
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const now = Date.now()
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer?.certificate.subjectName ?? new x509.Name(subject),
    notBefore: new Date(from ?? now - HOUR_MS),
    notAfter: new Date(until ?? now + HOUR_MS),
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: { ...ALGORITHM, hash },
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      ...(usages === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...usages])]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]),
      ...(criticalExtension === undefined ? [] : [new x509.Extension(criticalExtension, true, new Uint8Array([5, 0]))]),
    ],
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    certificate,
    keys,
    certificatePem: `${certificate.toString('pem')}\n`,
    keyPem: x509.PemConverter.encode(key, 'PRIVATE KEY'),
  }
}

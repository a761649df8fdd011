import { createHash } from 'node:crypto'
import type { KeyObject, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { loadX509 } from './load-x509.ts'

/** Who signs: the certificate of an authority and its key. */
export interface Authority {
  readonly certificate: X509Certificate
  readonly pem: string
  readonly key: KeyObject
}

/** What a certificate is to say. */
export interface CertificateContent {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly publicKey: KeyObject
  /** DNS names and IP addresses. */
  readonly names: readonly string[]
  readonly usages: readonly ('server' | 'client')[]
  /** For RSA keys, whose old uses need it. */
  readonly isForEncipherment?: boolean
  readonly lifetimeMs: number
}

/** Clocks of others may be this much behind. */
const CLOCK_SKEW_MS = 5 * 60_000

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A certificate in PEM form. It never outlives its authority. */
export async function issueCertificate(
  authority: Authority,
  content: CertificateContent,
  now: number,
): Promise<string> {
  const x509 = await loadX509()
  const publicKey = toSpki(content.publicKey)
  const flags = x509.KeyUsageFlags
  const uses = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth }
  const names = content.names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }))
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [...content.organizations.map((name) => ({ O: [name] })), { CN: [content.commonName] }],
    issuer: new x509.X509Certificate(authority.pem).subjectName,
    notBefore: new Date(now - CLOCK_SKEW_MS),
    notAfter: new Date(Math.min(now + content.lifetimeMs, authority.certificate.validToDate.getTime())),
    publicKey,
    signingKey: toSigningKey(authority.key),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(
        flags.digitalSignature | (content.isForEncipherment ? flags.keyEncipherment : flags.digitalSignature),
        true,
      ),
      new x509.ExtendedKeyUsageExtension(content.usages.map((usage) => uses[usage])),
      new x509.AuthorityKeyIdentifierExtension(keyIdentifier(toSpki(authority.certificate.publicKey))),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

/** The certificate of a new authority for a key, in PEM form. */
export async function issueAuthority(
  keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  content: { readonly commonName: string; readonly lifetimeMs: number },
  now: number,
): Promise<string> {
  const x509 = await loadX509()
  const publicKey = toSpki(keys.publicKey)
  const name = [{ CN: [content.commonName] }]
  const flags = x509.KeyUsageFlags
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: name,
    notBefore: new Date(now - CLOCK_SKEW_MS),
    notAfter: new Date(now + content.lifetimeMs),
    publicKey,
    signingKey: toSigningKey(keys.privateKey),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(flags.digitalSignature | flags.keyCertSign | flags.cRLSign, true),
      new x509.SubjectKeyIdentifierExtension(keyIdentifier(publicKey)),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

function toSpki(key: KeyObject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(key.export({ type: 'spki', format: 'der' }))
}

function toSigningKey(key: KeyObject) {
  return key.toCryptoKey(ALGORITHM, false, ['sign'])
}

function keyIdentifier(spki: Uint8Array): string {
  return createHash('sha1').update(spki).digest('hex')
}

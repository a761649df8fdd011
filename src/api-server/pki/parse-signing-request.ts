import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { loadX509 } from '../../protocols/x509/load-x509.ts'
import { normalizeName } from '../../protocols/x509/normalize-name.ts'
import type { RequestedCertificate } from './compute-signing-decision.ts'

export interface ParsedRequest extends RequestedCertificate {
  readonly publicKey: KeyObject
}

const ONE_REQUEST =
  /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/
const ALTERNATIVE_NAMES = '2.5.29.17'
const SHORTEST_RSA_BITS = 2048
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']

/** Reads a request of PKCS #10 in PEM form. Throws when it is none, is not signed with its own key, or the key is weak. */
export async function parseSigningRequest(pem: string): Promise<ParsedRequest> {
  const base64 = ONE_REQUEST.exec(pem)?.[1]
  if (base64 === undefined) throw new Error('it is not one certificate request in PEM form')
  const x509 = await loadX509()
  const request = new x509.Pkcs10CertificateRequest(Buffer.from(base64, 'base64'))
  if (!(await request.verify())) throw new Error('it is not signed with its own key')
  const publicKey = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' })
  if (!isStrong(publicKey))
    throw new Error('its key is weak or of an unknown kind: expected RSA from 2048 bits on, ECDSA or Ed25519')
  const names = request.getExtension(ALTERNATIVE_NAMES)
  const all = names instanceof x509.SubjectAlternativeNameExtension ? names.names.toJSON() : []
  const commonNames = request.subjectName.getField('CN')
  return {
    commonName: commonNames.length === 1 ? commonNames[0] : undefined,
    organizations: request.subjectName.getField('O'),
    dnsNames: all.filter(({ type }) => type === 'dns').map(({ value }) => normalizeName(value)),
    addresses: all.filter(({ type }) => type === 'ip').map(({ value }) => normalizeName(value)),
    otherNames: all.filter(({ type }) => type !== 'dns' && type !== 'ip').map(({ value }) => value),
    publicKey,
  }
}

function isStrong({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  switch (asymmetricKeyType) {
    case 'rsa':
      return (asymmetricKeyDetails?.modulusLength ?? 0) >= SHORTEST_RSA_BITS
    case 'ec':
      return CURVES.includes(asymmetricKeyDetails?.namedCurve ?? '')
    default:
      return asymmetricKeyType === 'ed25519'
  }
}

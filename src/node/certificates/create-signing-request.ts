import type { KeyObject } from 'node:crypto'
import type { WantedCertificate } from './wanted-certificate.ts'
import { loadX509 } from '../../protocols/x509/load-x509.ts'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A PKCS#10 request in PEM form for a key of ECDSA on P-256. */
export async function createSigningRequest(
  wanted: WantedCertificate,
  keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
): Promise<string> {
  const x509 = await loadX509()
  const names = [
    ...wanted.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...wanted.addresses.map((value) => ({ type: 'ip' as const, value })),
  ]
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [...wanted.organizations.map((name) => ({ O: [name] })), { CN: [wanted.commonName] }],
    keys: {
      publicKey: keys.publicKey.toCryptoKey(ALGORITHM, true, ['verify']),
      privateKey: keys.privateKey.toCryptoKey(ALGORITHM, true, ['sign']),
    },
    signingAlgorithm: ALGORITHM,
    extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)],
  })
  return `${request.toString('pem')}\n`
}

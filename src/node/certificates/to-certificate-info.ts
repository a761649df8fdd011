import type { X509Certificate } from 'node:crypto'
import type { CertificateInfo } from './compute-rotation.ts'
import { normalizeName } from '../../protocols/x509/normalize-name.ts'

const ADDRESS = 'IP Address:'
const DNS_NAME = 'DNS:'

/** The content of a certificate, in the same form as a wanted one. */
export function toCertificateInfo(certificate: X509Certificate): CertificateInfo {
  const { CN, O = [] } = certificate.toLegacyObject().subject as { CN?: string | string[]; O?: string | string[] }
  const names = (certificate.subjectAltName ?? '').split(', ')
  const namesOf = (kind: string) =>
    names.filter((name) => name.startsWith(kind)).map((name) => normalizeName(name.slice(kind.length)))
  return {
    commonName: [CN].flat().at(-1) ?? '',
    organizations: [O].flat(),
    dnsNames: namesOf(DNS_NAME),
    addresses: namesOf(ADDRESS),
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
  }
}

import type { X509Certificate } from 'node:crypto'

/** Whether an authority signed a certificate. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

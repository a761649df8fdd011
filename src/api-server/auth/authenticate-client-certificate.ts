import type { X509Certificate } from 'node:crypto'
import { isIssuedBy } from '../pki/is-issued-by.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { authenticated } from './user-names.ts'

/** What became of credentials: a user, or why not. */
export type AuthenticationResult =
  | { readonly user: RequestUser; readonly fault?: undefined }
  | { readonly user?: undefined; readonly fault: string }

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** What a certificate says of its client; each connection has a certificate object of its own, and many requests. */
interface Known {
  readonly authority: X509Certificate
  readonly result: AuthenticationResult
  /** Node reads them again each time it is asked. */
  readonly validFrom: number
  readonly validTo: number
}

const known = new WeakMap<X509Certificate, Known>()

/**
 * The user of a client certificate: its common name is the user, its organizations are the groups. That the client has its key
 * is what the TLS handshake has proved.
 */
export function authenticateClientCertificate(
  certificate: X509Certificate,
  authority: X509Certificate,
  now: number,
): AuthenticationResult {
  let client = known.get(certificate)
  if (client?.authority !== authority) {
    const [validFrom, validTo] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
    client = { authority, result: readClient(certificate, authority), validFrom, validTo }
    known.set(certificate, client)
  }
  if (client.result.user === undefined) return client.result
  if (now < client.validFrom) return { fault: 'the certificate is not valid yet' }
  if (now > client.validTo) return { fault: 'the certificate has expired' }
  return client.result
}

function readClient(certificate: X509Certificate, authority: X509Certificate): AuthenticationResult {
  if (!isIssuedBy(certificate, authority)) return { fault: 'another authority signed the certificate' }
  if (certificate.ca) return { fault: 'the certificate is that of an authority' }
  // Node's property of this name has the extended usages.
  if (!(certificate.keyUsage ?? []).includes(CLIENT_AUTH)) return { fault: 'the certificate is not for clients' }
  const { CN, O = [] } = certificate.toLegacyObject().subject as { CN?: unknown; O?: string | string[] }
  if (typeof CN !== 'string' || CN === '') return { fault: 'the certificate does not have one common name' }
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  const extra = { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] }
  return { user: authenticated({ name: CN, groups: [O].flat(), extra }) }
}

import type { X509Certificate } from 'node:crypto'
import { ABSENT, invalidCredential, validCredential } from './credential-result.ts'
import type { CredentialResult } from './credential-result.ts'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/** What a client showed in its handshake, which has proved that it has the key. */
export interface PresentedCertificate {
  /** Its own first, then those it sent along, each signed by the next. */
  readonly chain: readonly X509Certificate[]
  /** What OpenSSL found wrong with the chain in the handshake, as its code; undefined when nothing. */
  readonly handshakeFault: string | undefined
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'
const USER_ID = '1.3.6.1.4.1.57683.2'
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** Who a client certificate stands for: its common name is the user, its organizations are the groups. */
export function authenticatePeerCertificate(
  presented: PresentedCertificate,
  authorities: readonly X509Certificate[],
  { now, readsUid }: { readonly now: number; readonly readsUid: boolean },
): CredentialResult {
  const [own] = presented.chain
  if (own === undefined) return ABSENT
  const fault = findFault(presented, authorities, now)
  if (fault !== undefined) return invalidCredential(`the client certificate ${fault}`)
  const { CN, O = [], [USER_ID]: uid } = own.toLegacyObject().subject as Readonly<Record<string, unknown>>
  if (CN === undefined || CN === '') return ABSENT
  if (typeof CN !== 'string') return invalidCredential('the client certificate has several common names')
  const fingerprint = own.fingerprint256.replaceAll(':', '').toLowerCase()
  return validCredential({
    name: CN,
    ...(readsUid && typeof uid === 'string' && uid !== '' ? { uid } : {}),
    groups: [O].flat().filter((group): group is string => typeof group === 'string'),
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
  })
}

/**
 * Both judgements must hold. OpenSSL's at the handshake knows what is not checked here: weak signatures, unknown critical extensions, what one
 * authority forbids another. Ours is repeated for every request, since connections outlive both certificates and authorities.
 */
function findFault(
  { chain, handshakeFault }: PresentedCertificate,
  authorities: readonly X509Certificate[],
  now: number,
): string | undefined {
  const signers = chain.map((certificate) => authorities.find((authority) => isIssuedBy(certificate, authority)))
  const anchor = signers.findIndex((authority) => authority !== undefined)
  const authority = signers[anchor]
  if (authority === undefined) return 'is not signed by an authority that is known here'
  const own = chain.slice(0, anchor + 1)
  if (own.some((certificate, index) => index > 0 && !isIssuedBy(own[index - 1] ?? certificate, certificate)))
    return 'has a chain that does not hold'
  for (const certificate of [...own, authority]) {
    if (now < certificate.validFromDate.getTime()) return 'is not valid yet'
    if (now > certificate.validToDate.getTime()) return 'has expired'
  }
  if (!own.every(isForClients)) return 'is not for clients'
  return handshakeFault === undefined ? undefined : `was rejected in the TLS handshake: ${handshakeFault}`
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** Node's property of this name has the extended usages; who has none may be used for all. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  return keyUsage === undefined || keyUsage.includes(CLIENT_AUTH) || keyUsage.includes(ANY_USAGE)
}

// Longer chains are no chains; one that is signed by itself has no end.
const MAX_CHAIN = 10

/** What the client of a connection showed in its handshake; nothing on one without encryption. */
export function readPeerCertificate({ socket }: IncomingMessage): PresentedCertificate {
  if (!(socket instanceof TLSSocket)) return { chain: [], handshakeFault: undefined }
  const chain: X509Certificate[] = []
  let next = socket.getPeerX509Certificate()
  while (next !== undefined && chain.length < MAX_CHAIN) {
    chain.push(next)
    next = next.issuerCertificate
  }
  // Typed as an error, but it is the name of OpenSSL's verdict.
  return { chain, handshakeFault: socket.authorized ? undefined : String(socket.authorizationError) }
}

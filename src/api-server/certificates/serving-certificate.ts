import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../../async/clock.ts'
import { setAside } from '../../host/set-aside.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../certificates/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../certificates/x509/certificate-files.ts'
import { computeCertificateDue } from './compute-certificate-due.ts'
import { issueCertificate } from '../../certificates/x509/issue-certificate.ts'
import { normalizeName } from '../../certificates/x509/normalize-name.ts'
import type { Pki } from './open-pki.ts'

const FILE = 'serving.pem'
const YEAR_MS = 365 * 24 * 3_600_000

/** What clients on the machine itself may call it, and the names that pods know it by. */
const OWN_NAMES = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

/** The serving certificate for these names besides the usual ones: the one that is there while it is good, or a new one. */
export async function ensureServingCertificate(
  pki: Pki,
  names: readonly string[],
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<KeyedCertificate> {
  const wanted = [...new Set([...OWN_NAMES, ...names].map(normalizeName))]
  const now = deps.clock.now()
  const present = await readPresent(pki, deps)
  const why =
    present === undefined ? 'there is none' : computeCertificateDue(factsOf(pki, present.certificate), wanted, now)
  if (present !== undefined && why === undefined) return present
  const keys = createKeys()
  const content = {
    commonName: 'deckhand-api',
    organizations: [],
    publicKey: keys.publicKey,
    names: wanted,
    usages: ['server'] as const,
  }
  const pem = await issueCertificate(pki.authority, { ...content, lifetimeMs: YEAR_MS }, now)
  const text = `${pem}${toKeyPem(keys.privateKey)}`
  await pki.files.write(FILE, text)
  deps.log.info('made a serving certificate for the API', { why, names: wanted })
  return parseKeyedCertificate(text)
}

async function readPresent(
  pki: Pki,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<KeyedCertificate | undefined> {
  const text = await pki.files.read(FILE)
  if (text === undefined) return undefined
  try {
    return parseKeyedCertificate(text)
  } catch (error) {
    const suffix = `.broken-${clock.now()}`
    await setAside([`${pki.folder}/${FILE}`], suffix)
    log.error('the serving certificate is broken and was set aside', {
      setAside: `${pki.folder}/${FILE}${suffix}`,
      error,
    })
    return undefined
  }
}

function factsOf({ authority }: Pki, certificate: X509Certificate) {
  return {
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
    isOfAuthority: isIssuedBy(certificate, authority.certificate),
    names: namesOf(certificate),
  }
}

/** Whether an authority signed a certificate. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const names = subjectAltName.split(', ').filter(Boolean)
  return names.map((name) => normalizeName(name.replace(/^(?:DNS|IP Address):/, '')))
}

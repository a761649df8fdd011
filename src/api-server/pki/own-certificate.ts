import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import { computeCertificateDue } from './compute-certificate-due.ts'
import { issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import type { CertificateContent } from '../../protocols/x509/issue-certificate.ts'
import { normalizeName } from '../../protocols/x509/normalize-name.ts'
import { isIssuedBy } from './is-issued-by.ts'
import type { Pki } from './open-pki.ts'
import { setAside } from '../../system/files/state/durable-file.ts'

/** A certificate that the API keeps for itself. */
export interface OwnCertificate extends Pick<CertificateContent, 'commonName' | 'organizations' | 'names' | 'usages'> {
  /** In the folder of the authority. */
  readonly file: string
}

const YEAR_MS = 365 * 24 * 3_600_000

/** The certificate that is there while it is good, or a new one. */
export async function ensureOwnCertificate(
  pki: Pki,
  wanted: OwnCertificate,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<KeyedCertificate> {
  const { file, ...content } = wanted
  const names = [...new Set(wanted.names.map(normalizeName))]
  const now = deps.clock.now()
  const present = await readPresent(pki, file, deps)
  const why =
    present === undefined ? 'there is none' : computeCertificateDue(infoOf(pki, present.certificate), names, now)
  if (present !== undefined && why === undefined) return present
  const keys = createKeys()
  const pem = await issueCertificate(
    pki.authority,
    { ...content, names, publicKey: keys.publicKey, lifetimeMs: YEAR_MS },
    now,
  )
  const text = `${pem}${toKeyPem(keys.privateKey)}`
  await pki.files.write(file, text)
  deps.log.info('made a certificate for the API itself', { file, why, names })
  return parseKeyedCertificate(text)
}

async function readPresent(
  pki: Pki,
  file: string,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<KeyedCertificate | undefined> {
  const text = await pki.files.read(file)
  if (text === undefined) return undefined
  try {
    return parseKeyedCertificate(text)
  } catch (error) {
    const path = `${pki.folder}/${file}`
    const suffix = `.broken-${clock.now()}`
    await setAside([path], suffix)
    log.error('a certificate of the API is broken and was set aside', { setAside: `${path}${suffix}`, error })
    return undefined
  }
}

function infoOf({ authority }: Pki, certificate: X509Certificate) {
  return {
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
    isOfAuthority: isIssuedBy(certificate, authority.certificate),
    names: namesOf(certificate),
  }
}

function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const names = subjectAltName.split(', ').filter(Boolean)
  return names.map((name) => normalizeName(name.replace(/^(?:DNS|IP Address):/, '')))
}

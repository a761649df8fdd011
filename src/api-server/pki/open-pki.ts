import { randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import type { RecordFolder } from '../../system/files/state/create-record-folder.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { createKeys, parseKey, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import { issueAuthority } from '../../protocols/x509/issue-certificate.ts'
import type { Authority } from '../../protocols/x509/issue-certificate.ts'

/** What the API proves itself and others with. */
export interface Pki {
  /** Where its files are; only their owner reads them. */
  readonly folder: string
  readonly files: RecordFolder
  /** Signs the serving certificate and those of clients. */
  readonly authority: Authority
  /** Signs the tokens of service accounts. */
  readonly tokenKey: KeyObject
}

/** A file that the API needs, and cannot replace without locking its clients out. */
export class PkiError extends Error {
  override readonly name = 'PkiError'
}

/** Certificate and key in one file, so that there never is one without the other. */
const AUTHORITY_FILE = 'ca.pem'
/** The certificate alone, for clients. */
const CERTIFICATE_FILE = 'ca.crt'
const TOKEN_KEY_FILE = 'service-account.key'

const YEAR_MS = 365.25 * 24 * 3_600_000
const AUTHORITY_LIFETIME_MS = 10 * YEAR_MS
const WARNING_MS = YEAR_MS / 2

/** Opens the folder with the authority and the keys of the API; the first start makes them. */
export async function openPki(folder: string, deps: { readonly clock: Clock; readonly log: Logger }): Promise<Pki> {
  const files = createRecordFolder(folder)
  const authority = (await readAuthority(folder, files, deps)) ?? (await createAuthority(folder, files, deps))
  if ((await files.read(CERTIFICATE_FILE)) !== authority.pem) await files.write(CERTIFICATE_FILE, authority.pem)
  return { folder, files, authority, tokenKey: await openTokenKey(folder, files, deps.log) }
}

async function readAuthority(
  folder: string,
  files: RecordFolder,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<Authority | undefined> {
  const path = `${folder}/${AUTHORITY_FILE}`
  const text = await files.read(AUTHORITY_FILE)
  if (text === undefined) return undefined
  try {
    const { certificate, certificatePem, key } = parseKeyedCertificate(text)
    if (!certificate.ca) throw new Error('it is not the certificate of an authority')
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('its key is not ECDSA on P-256')
    const left = certificate.validToDate.getTime() - clock.now()
    if (left <= 0) throw new Error(`it has expired at ${certificate.validToDate.toISOString()}`)
    if (left < WARNING_MS)
      log.warn('the authority of the API expires', { path, at: certificate.validToDate.toISOString() })
    if (certificate.validFromDate.getTime() > clock.now()) {
      log.warn('the authority of the API is not valid yet: is the clock right?', {
        path,
        from: certificate.validFromDate.toISOString(),
      })
    }
    return { certificate, pem: certificatePem, key }
  } catch (error) {
    const what = errorMessage(error)
    throw new PkiError(`Cannot use the authority "${path}": ${what}; ${adviceFor(folder)}`, { cause: error })
  }
}

async function createAuthority(
  folder: string,
  files: RecordFolder,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<Authority> {
  // It is written first, so its copy exists without it only when it was removed.
  if ((await files.read(CERTIFICATE_FILE)) !== undefined) {
    throw new PkiError(
      `Cannot make an authority in "${folder}": "${AUTHORITY_FILE}" is missing although "${CERTIFICATE_FILE}" is there; ${adviceFor(folder)}`,
    )
  }
  const keys = createKeys()
  // A name of its own: two authorities of one name would be taken for each other.
  const commonName = `deckhand-${randomBytes(4).toString('hex')}`
  const pem = await issueAuthority(keys, { commonName, lifetimeMs: AUTHORITY_LIFETIME_MS }, clock.now())
  const text = `${pem}${toKeyPem(keys.privateKey)}`
  await files.write(AUTHORITY_FILE, text)
  log.info('made the authority of the API', { folder, commonName })
  const { certificate, certificatePem, key } = parseKeyedCertificate(text)
  return { certificate, pem: certificatePem, key }
}

async function openTokenKey(folder: string, files: RecordFolder, log: Logger): Promise<KeyObject> {
  const text = await files.read(TOKEN_KEY_FILE)
  if (text === undefined) {
    const { privateKey } = createKeys()
    await files.write(TOKEN_KEY_FILE, toKeyPem(privateKey))
    log.info('made a key for the tokens of service accounts', { folder })
    return privateKey
  }
  try {
    return parseKey(text)
  } catch (error) {
    const path = `${folder}/${TOKEN_KEY_FILE}`
    throw new PkiError(
      `Cannot use the key "${path}": ${errorMessage(error)}; put the file back from a copy, or remove it: a new key is made then, and the tokens that pods have now stop working until they are renewed`,
      { cause: error },
    )
  }
}

function adviceFor(folder: string): string {
  return `put the file back from a copy, or remove the folder "${folder}" to start over: certificates and kubeconfig files made so far stop working then`
}

import { join } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { SetAside } from './certificate-provider.ts'
import { hasEnded } from './current-certificate.ts'
import { BrokenCertificateError, readCertificateFiles } from './read-certificate.ts'
import type { CertificateFiles } from './read-certificate.ts'
import { toCertificateInfo } from './to-certificate-info.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import { writeFileDurably } from '../../system/files/state/durable-file.ts'

export interface SelfSignedDeps {
  /** --cert-dir */
  readonly folder: string
  readonly nodeName: string
  readonly addresses: readonly string[]
  readonly setAside: SetAside
  readonly clock: Clock
  readonly log: Logger
}

const YEAR_MS = 365 * 24 * 3_600_000
const CERTIFICATE_MODE = 0o644
const KEY_MODE = 0o600

/** Where the self-signed certificate is kept. */
export function selfSignedFiles(folder: string): CertificateFiles {
  return { certificateFile: join(folder, 'kubelet.crt'), keyFile: join(folder, 'kubelet.key') }
}

/**
 * The certificate of a node that was given none: the existing one while it can be used, or a new one for a year. Fails when the existing one
 * cannot be read, and leaves it where it is.
 */
export async function ensureSelfSigned(deps: SelfSignedDeps): Promise<KeyedCertificate> {
  const files = selfSignedFiles(deps.folder)
  const { clock, log } = deps
  try {
    const present = await readCertificateFiles(files)
    if (present !== undefined && !(isOwnKind(present) && hasEnded(present, clock.now()))) return present
  } catch (error) {
    if (!(error instanceof BrokenCertificateError)) throw error
    const suffix = `.broken-${clock.now()}`
    await deps.setAside([files.certificateFile, files.keyFile], suffix)
    log.error('the serving certificate is broken and was set aside', { ...files, suffix, error })
  }
  const made = await createSelfSigned(deps)
  // The key first: the certificate alone is of no use.
  await writeFileDurably(files.keyFile, made.keyPem, { mode: KEY_MODE })
  await writeFileDurably(files.certificateFile, made.certificatePem, { mode: CERTIFICATE_MODE })
  log.info('made a self-signed serving certificate', { ...files })
  return made
}

/** Made by a kubelet, not put there by an administrator. */
function isOwnKind({ certificate }: KeyedCertificate): boolean {
  return /@\d+$/.test(toCertificateInfo(certificate).commonName)
}

/** Names as the Go kubelet gives them. The authority is thrown away: it vouches for this one certificate only. */
export async function createSelfSigned({ nodeName, addresses, clock }: SelfSignedDeps): Promise<KeyedCertificate> {
  const now = clock.now()
  const seconds = Math.trunc(now / 1000)
  const authorityKeys = createKeys()
  const authorityPem = await issueAuthority(
    authorityKeys,
    { commonName: `${nodeName}-ca@${seconds}`, lifetimeMs: YEAR_MS },
    now,
  )
  const { certificate, key } = parseKeyedCertificate(`${authorityPem}${toKeyPem(authorityKeys.privateKey)}`)
  const keys = createKeys()
  const pem = await issueCertificate(
    { certificate, pem: authorityPem, key },
    {
      commonName: `${nodeName}@${seconds}`,
      organizations: [],
      publicKey: keys.publicKey,
      names: [...new Set([nodeName, ...addresses])],
      usages: ['server'],
      lifetimeMs: YEAR_MS,
    },
    now,
  )
  return parseKeyedCertificate(`${pem}${authorityPem}${toKeyPem(keys.privateKey)}`)
}

import { X509Certificate } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../protocols/x509/certificate-files.ts'
import { computeCertificateDue } from './compute-certificate-due.ts'
import { issueCertificate } from '../../protocols/x509/issue-certificate.ts'
import { isIssuedBy } from './is-issued-by.ts'
import type { Pki } from './open-pki.ts'
import { setAside } from '../../system/files/state/durable-file.ts'

/** The user of a kubeconfig file, and its path. */
export interface ClientIdentity {
  readonly path: string
  readonly user: string
  readonly groups: readonly string[]
}

interface KubeconfigContent {
  readonly server: string
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

const YEAR_MS = 365 * 24 * 3_600_000

/**
 * Keeps a kubeconfig file that works: it stays while it has the right server, authority and a good certificate, whatever else is in
 * it. One that does not, and is not as we wrote it, is set aside first.
 */
export async function ensureKubeconfig(
  pki: Pki,
  identity: ClientIdentity,
  server: string,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<void> {
  const { path } = identity
  const files = createRecordFolder(dirname(path))
  const present = await files.read(basename(path))
  const why = present === undefined ? 'there is none' : findFault(pki, identity, server, present, deps.clock.now())
  if (why === undefined) return
  if (present !== undefined && !isOurs(present)) {
    const suffix = `.old-${deps.clock.now()}`
    await setAside([path], suffix)
    deps.log.error('a kubeconfig file does not work, was changed by others, and was set aside', {
      path,
      why,
      setAside: `${path}${suffix}`,
    })
  }
  await files.write(basename(path), await createKubeconfig(pki, identity, server, deps.clock.now()))
  deps.log.info('wrote a kubeconfig file', { path, user: identity.user, why })
}

async function createKubeconfig(
  pki: Pki,
  { user, groups }: ClientIdentity,
  server: string,
  now: number,
): Promise<string> {
  const keys = createKeys()
  const content = {
    commonName: user,
    organizations: groups,
    publicKey: keys.publicKey,
    names: [],
    usages: ['client'] as const,
  }
  const certificate = await issueCertificate(pki.authority, { ...content, lifetimeMs: YEAR_MS }, now)
  return toText({
    server,
    authority: encode(pki.authority.pem),
    certificate: encode(certificate),
    key: encode(toKeyPem(keys.privateKey)),
  })
}

/** Why a file does not serve its purpose; undefined when it does. */
function findFault(pki: Pki, identity: ClientIdentity, server: string, text: string, now: number): string | undefined {
  const content = parseContent(text)
  if (content === undefined) return 'it has no server, authority, certificate or key'
  if (content.server !== server) return 'the server has another address'
  if (content.authority !== encode(pki.authority.pem)) return 'it trusts another authority'
  try {
    const { certificate } = parseKeyedCertificate(`${decode(content.certificate)}\n${decode(content.key)}`)
    if (!isFor(certificate, identity)) return 'it is for another user'
    return computeCertificateDue(
      {
        notBefore: certificate.validFromDate.getTime(),
        notAfter: certificate.validToDate.getTime(),
        isOfAuthority: isIssuedBy(certificate, pki.authority.certificate),
        names: [],
      },
      [],
      now,
    )
  } catch (error) {
    return `its certificate is broken: ${errorMessage(error)}`
  }
}

function isFor(certificate: X509Certificate, { user, groups }: ClientIdentity): boolean {
  const { CN, O = [] } = certificate.toLegacyObject().subject as { CN?: unknown; O?: string | string[] }
  const organizations = [O].flat().toSorted()
  return CN === user && JSON.stringify(organizations) === JSON.stringify(groups.toSorted())
}

function parseContent(text: string): KubeconfigContent | undefined {
  const find = (name: string) => new RegExp(`^ +${name}: (\\S+)$`, 'm').exec(text)?.[1]
  const server = find('server')
  const authority = find('certificate-authority-data')
  const certificate = find('client-certificate-data')
  const key = find('client-key-data')
  if (server === undefined || authority === undefined || certificate === undefined || key === undefined)
    return undefined
  return { server, authority, certificate, key }
}

/** Whether a file is as we write it, so that nothing of others is lost with it. */
function isOurs(text: string): boolean {
  const content = parseContent(text)
  return content !== undefined && toText(content) === text
}

function toText({ server, authority, certificate, key }: KubeconfigContent): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: deckhand
  cluster:
    server: ${server}
    certificate-authority-data: ${authority}
users:
- name: deckhand
  user:
    client-certificate-data: ${certificate}
    client-key-data: ${key}
contexts:
- name: deckhand
  context:
    cluster: deckhand
    user: deckhand
current-context: deckhand
`
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { FieldReader } from './field-reader.ts'
import type { FileReader } from './kept-file.ts'
import type { Kubeconfig, KubeconfigUser, PemSource } from './kubeconfig.ts'
import type { KubeconfigParts } from './open-kubeconfig.ts'
import { toReadFault } from './to-read-fault.ts'

export interface KubeconfigCheckDeps {
  readonly files: FileReader
  /** For PATH, where programs are searched. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly isProgram: (command: string, path: string) => Promise<boolean>
}

/** A text of the file, or the file that it points to, with the field where it stands. */
interface Found {
  readonly part: FieldReader
  readonly field: string
  readonly text: string
}

// All authorities of a machine are some hundred kilobytes.
const MAX_BYTES = 4 * 1024 * 1024
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Checks all that the current context points to, so that a mistake is reported at the start, where it is noticed, and not with each
 * request for ever after. Fails with a KubeconfigError.
 */
export async function checkKubeconfig(
  { authority, user: who }: Kubeconfig,
  { cluster, user }: KubeconfigParts,
  deps: KubeconfigCheckDeps,
): Promise<void> {
  if (authority !== undefined) {
    const found = await read(cluster, 'certificate-authority', authority, deps)
    if (!hasCertificate(found.text)) throw fault(found, 'expected certificates in PEM form')
  }
  if (user === undefined) return
  if (who.certificate !== undefined) await checkCertificate(who.certificate, user, deps)
  await checkLogin(who.login, user, deps)
}

async function checkCertificate(
  { certificate, key }: NonNullable<KubeconfigUser['certificate']>,
  user: FieldReader,
  deps: KubeconfigCheckDeps,
): Promise<void> {
  const [cert, secret] = [
    await read(user, 'client-certificate', certificate, deps),
    await read(user, 'client-key', key, deps),
  ]
  if (!hasCertificate(cert.text)) throw fault(cert, 'expected a certificate in PEM form')
  if (!isKey(secret.text)) throw fault(secret, 'expected a private key in PEM form, not encrypted')
  try {
    createSecureContext({ cert: cert.text, key: secret.text })
  } catch {
    throw fault(secret, `it belongs to another certificate than ${cert.field}, expected the key of that`)
  }
}

async function checkLogin(
  login: KubeconfigUser['login'],
  user: FieldReader,
  { files, environment, isProgram }: KubeconfigCheckDeps,
): Promise<void> {
  // With a token beside it the file may come later, as in Go.
  if (login.kind === 'tokenFile' && login.fallback === undefined) {
    const found = await read(user, 'tokenFile', { kind: 'file', path: login.path }, { files })
    if (found.text.trim() === '') throw fault(found, `"${login.path}" is empty, expected a token in it`)
  }
  if (login.kind === 'exec') {
    const { command, env, installHint } = login.plugin
    if (await isProgram(command, env['PATH'] ?? environment['PATH'] ?? '')) return
    const hint = installHint === '' ? '' : `: ${installHint.replaceAll(/\s+/g, ' ').trim()}`
    const where = command.includes('/') ? '' : ' in PATH'
    throw user.object('exec').fault('command', `there is no program "${command}"${where}, expected one${hint}`)
  }
}

async function read(
  part: FieldReader,
  name: string,
  source: PemSource,
  { files }: Pick<KubeconfigCheckDeps, 'files'>,
): Promise<Found> {
  if (source.kind === 'data') return { part, field: `${name}-data`, text: source.pem }
  try {
    const bytes = await files.readFile(source.path, MAX_BYTES)
    return { part, field: name, text: Buffer.from(bytes).toString('utf8') }
  } catch (error) {
    throw part.fault(name, `cannot read "${source.path}": ${toReadFault(error)}`)
  }
}

function fault({ part, field }: Found, problem: string) {
  return part.fault(field, problem)
}

/** One that can be read is enough, as in Go. */
function hasCertificate(text: string): boolean {
  return [...text.matchAll(CERTIFICATE)].some(([pem]) => {
    try {
      return new X509Certificate(pem).subject !== null
    } catch {
      return false
    }
  })
}

function isKey(text: string): boolean {
  try {
    return createPrivateKey(text).type === 'private'
  } catch {
    return false
  }
}

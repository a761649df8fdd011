import { join, resolve } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import { renameDurably } from '../../system/files/state/durable-file.ts'
import { readLink, replaceLink } from '../../system/files/replace-link.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { throwIfTransient } from '../../base/async/transient-errors.ts'
import { hasCode, unlessAbsent } from '../../system/files/error-codes.ts'
import { readPatiently } from '../../system/files/state/read-patiently.ts'
import type { SetAside } from './certificate-provider.ts'
import { hasEnded } from './current-certificate.ts'
import { BrokenCertificateError, readCertificateFiles } from './read-certificate.ts'
import type { CertificateFiles } from './read-certificate.ts'
import { parseKeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'

export interface CertificateStoreDeps {
  /** --cert-dir */
  readonly folder: string
  /** What the names of its files begin with. */
  readonly prefix: 'kubelet-client' | 'kubelet-server'
  /** Files of others, read as long as the store has nothing. */
  readonly fallback?: CertificateFiles | undefined
  /** Reads a certificate and its key; another one in tests. */
  readonly readFiles?: typeof readCertificateFiles
  readonly setAside: SetAside
  readonly clock: Clock
  readonly log: Logger
}

type Current =
  | { readonly kind: 'found'; readonly certificate: KeyedCertificate }
  /** There is none, or none that makes sense. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' }

/**
 * Certificates with their keys, each in a file with the time in its name; a link leads to the one in use:
 *
 *   kubelet-client-2026-01-01-00-00-00.pem
 *   kubelet-client-current.pem -> /var/lib/kubelet/pki/kubelet-client-2026-01-01-00-00-00.pem
 *
 * File names and order are the same as in the Go kubelet, so either agent can continue where the other stopped.
 */
export class CertificateStore {
  readonly #deps: CertificateStoreDeps
  readonly #folder: string

  constructor(deps: CertificateStoreDeps) {
    this.#deps = deps
    this.#folder = resolve(deps.folder)
  }

  /** Always the path of the certificate in use. */
  get currentPath(): string {
    return this.#pathOf('current')
  }

  /**
   * The certificate to use, valid or ended. One that could be read and makes no sense is set aside; what cannot be read stays where it is.
   * Instead of it, and where the link is lost, the newest earlier one that is good will do. Fails when reading fails for the moment.
   */
  async read(): Promise<KeyedCertificate | undefined> {
    await this.#finishUpdate()
    const current = await this.#readCurrent()
    if (current.kind === 'found') return current.certificate
    const other = await this.#readOthers()
    if (other !== undefined && !hasEnded(other, this.#deps.clock.now())) return other
    return (await this.#recover(current.kind)) ?? other
  }

  async write({
    certificatePem,
    keyPem,
  }: Pick<KeyedCertificate, 'certificatePem' | 'keyPem'>): Promise<KeyedCertificate> {
    const certificate = parseKeyedCertificate(certificatePem, keyPem)
    const time = new Date(this.#deps.clock.now()).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')
    const name = `${this.#deps.prefix}-${time}.pem`
    await createRecordFolder(this.#folder).write(name, `${certificate.certificatePem}${certificate.keyPem}`)
    await this.#use(join(this.#folder, name))
    return certificate
  }

  async #use(path: string): Promise<void> {
    // A file that is not a link was put there by an administrator: it is kept, and nothing is wrong with it.
    if ((await readLink(this.currentPath)) === undefined) {
      const kept = `${this.currentPath}.old-${this.#deps.clock.now()}`
      await unlessAbsent(renameDurably(this.currentPath, kept), undefined)
    }
    await replaceLink(this.currentPath, this.#pathOf('updated'), path)
  }

  /** The Go kubelet takes the old link away first: it may have been killed just then. */
  async #finishUpdate(): Promise<void> {
    const updated = this.#pathOf('updated')
    if ((await readLink(updated)) !== undefined) await renameDurably(updated, this.currentPath)
  }

  async #readCurrent(): Promise<Current> {
    const path = this.currentPath
    const { clock, log } = this.#deps
    try {
      const certificate = await this.#readPair({ certificateFile: path, keyFile: path })
      return certificate === undefined ? { kind: 'absent' } : { kind: 'found', certificate }
    } catch (error) {
      throwIfTransient(error)
      // A link to nothing.
      if (Error.isError(error) && hasCode(error.cause, 'ENOENT')) return { kind: 'absent' }
      if (!(error instanceof BrokenCertificateError)) {
        log.error('a certificate cannot be read, it stays where it is', { path, error })
        return { kind: 'unreadable' }
      }
      const suffix = `.broken-${clock.now()}`
      await this.#deps.setAside([path], suffix)
      log.error('a certificate is broken and was set aside', { setAside: `${path}${suffix}`, error })
      return { kind: 'absent' }
    }
  }

  async #readOthers(): Promise<KeyedCertificate | undefined> {
    const { prefix, fallback, log } = this.#deps
    const [certificateFile, keyFile] = [join(this.#folder, `${prefix}.crt`), join(this.#folder, `${prefix}.key`)]
    for (const files of [...(fallback === undefined ? [] : [fallback]), { certificateFile, keyFile }]) {
      try {
        const certificate = await this.#readPair(files)
        if (certificate !== undefined) return certificate
      } catch (error) {
        throwIfTransient(error)
        log.error('cannot use a certificate', { ...files, error })
      }
    }
    return undefined
  }

  async #readPair(files: CertificateFiles): Promise<KeyedCertificate | undefined> {
    const { clock, readFiles = readCertificateFiles } = this.#deps
    const path = files.certificateFile
    // It gives up by itself, and soon.
    return await readPatiently(() => readFiles(files), { path, clock }, new AbortController().signal)
  }

  /** The newest earlier certificate that has not expired. The link keeps leading to one that may be readable later. */
  async #recover(current: 'absent' | 'unreadable'): Promise<KeyedCertificate | undefined> {
    const { prefix, clock, log } = this.#deps
    const names = await createRecordFolder(this.#folder).names()
    const dated = names.filter((name) => name.startsWith(`${prefix}-`) && /-\d{4}(-\d\d){5}\.pem$/.test(name))
    for (const name of dated.toSorted().toReversed()) {
      const path = join(this.#folder, name)
      try {
        const certificate = await this.#readPair({ certificateFile: path, keyFile: path })
        if (certificate === undefined || hasEnded(certificate, clock.now())) continue
        if (current === 'absent') await this.#use(path)
        log.warn('an earlier certificate is used instead', { path })
        return certificate
      } catch (error) {
        throwIfTransient(error)
        log.debug('an earlier certificate is broken too', { path, error })
      }
    }
    return undefined
  }

  #pathOf(version: 'current' | 'updated'): string {
    return join(this.#folder, `${this.#deps.prefix}-${version}.pem`)
  }
}

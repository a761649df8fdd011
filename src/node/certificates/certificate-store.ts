import { join, resolve } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { createRecordFolder } from '../../system/files/state/record-folder.ts'
import { renameDurably, setAside } from '../../system/files/durable-file.ts'
import { readLink, replaceLink } from '../../system/files/replace-link.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { hasEnded } from './current-certificate.ts'
import { readCertificateFiles } from './read-certificate.ts'
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
  readonly clock: Clock
  readonly log: Logger
}

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

  /** The certificate to use, valid or ended; a broken one is set aside, and then an older one that is still good will do. */
  async read(): Promise<KeyedCertificate | undefined> {
    await this.#finishUpdate()
    const current = await this.#readCurrent()
    if (current !== undefined && current !== 'broken') return current
    const { prefix, fallback } = this.#deps
    const [certificateFile, keyFile] = [join(this.#folder, `${prefix}.crt`), join(this.#folder, `${prefix}.key`)]
    const others = [...(fallback === undefined ? [] : [fallback]), { certificateFile, keyFile }]
    for (const files of others) {
      const certificate = await this.#readFiles(files)
      if (certificate !== undefined) return certificate
    }
    return current === 'broken' ? await this.#recover() : undefined
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
    // A file that is not a link was put there by an administrator.
    if ((await readLink(this.currentPath)) === undefined) {
      await setAside([this.currentPath], `.old-${this.#deps.clock.now()}`)
    }
    await replaceLink(this.currentPath, this.#pathOf('updated'), path)
  }

  /** The Go kubelet takes the old link away first: it may have been killed just then. */
  async #finishUpdate(): Promise<void> {
    const updated = this.#pathOf('updated')
    if ((await readLink(updated)) !== undefined) await renameDurably(updated, this.currentPath)
  }

  async #readCurrent(): Promise<KeyedCertificate | 'broken' | undefined> {
    const path = this.currentPath
    try {
      return await readCertificateFiles({ certificateFile: path, keyFile: path })
    } catch (error) {
      const suffix = `.broken-${this.#deps.clock.now()}`
      await setAside([path], suffix)
      this.#deps.log.error('a certificate is broken and was set aside', { setAside: `${path}${suffix}`, error })
      return 'broken'
    }
  }

  async #readFiles(files: CertificateFiles): Promise<KeyedCertificate | undefined> {
    try {
      return await readCertificateFiles(files)
    } catch (error) {
      this.#deps.log.error('cannot use a certificate', { ...files, error })
      return undefined
    }
  }

  /** The newest earlier certificate that has not expired. */
  async #recover(): Promise<KeyedCertificate | undefined> {
    const { prefix, clock, log } = this.#deps
    const names = await createRecordFolder(this.#folder).names()
    const dated = names.filter((name) => name.startsWith(`${prefix}-`) && /-\d{4}(-\d\d){5}\.pem$/.test(name))
    for (const name of dated.toSorted().toReversed()) {
      const path = join(this.#folder, name)
      try {
        const certificate = await readCertificateFiles({ certificateFile: path, keyFile: path })
        if (certificate === undefined || hasEnded(certificate, clock.now())) continue
        await this.#use(path)
        log.warn('an older certificate is used instead', { path })
        return certificate
      } catch (error) {
        log.debug('an earlier certificate is broken too', { path, error })
      }
    }
    return undefined
  }

  #pathOf(version: 'current' | 'updated'): string {
    return join(this.#folder, `${this.#deps.prefix}-${version}.pem`)
  }
}

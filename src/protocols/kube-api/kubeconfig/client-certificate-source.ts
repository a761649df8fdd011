import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { ClientCertificate } from '../transport/kube-credentials.ts'
import { KeptFile } from './kept-file.ts'
import type { FileReader } from './kept-file.ts'
import type { PemSource } from './kubeconfig.ts'
import type { EndedCertificate } from './report-ended-certificates.ts'

export interface ClientCertificateSourceDeps {
  readonly files: FileReader
  /** Called each time a certificate is shown that has expired. */
  readonly onEnded?: (ended: EndedCertificate) => void
  readonly clock: Clock
  readonly log: Logger
}

/** A client certificate with its key, from files or as it stands. Two files that do not fit are being replaced: the last good pair holds. */
export class ClientCertificateSource {
  readonly #deps: ClientCertificateSourceDeps
  readonly #certificate: PemText
  readonly #key: PemText
  readonly #file: string | undefined
  #current: ClientCertificate | undefined
  #endsAt = new Date(Number.NaN)

  constructor(source: { readonly certificate: PemSource; readonly key: PemSource }, deps: ClientCertificateSourceDeps) {
    this.#deps = deps
    this.#certificate = toText(source.certificate, deps)
    this.#key = toText(source.key, deps)
    this.#file = source.certificate.kind === 'file' ? source.certificate.path : undefined
  }

  async current(): Promise<ClientCertificate> {
    const current = await this.#read()
    if (this.#deps.clock.now() > this.#endsAt.getTime()) {
      this.#deps.onEnded?.({ file: this.#file, certificatePem: current.certificatePem, endedAt: this.#endsAt })
    }
    return current
  }

  async #read(): Promise<ClientCertificate> {
    const before = this.#current
    const certificatePem = await this.#certificate.text()
    const keyPem = await this.#key.text()
    if (before?.certificatePem === certificatePem && before.keyPem === keyPem) return before
    try {
      createSecureContext({ cert: certificatePem, key: keyPem })
    } catch (error) {
      if (before === undefined)
        throw new Error('Cannot use the client certificate: it and its key do not fit', { cause: error })
      this.#deps.log.warn('a new client certificate does not fit its key yet, the old one stays', { error })
      this.forget()
      return before
    }
    if (before !== undefined) this.#deps.log.info('there is a new client certificate')
    this.#endsAt = new X509Certificate(certificatePem).validToDate
    this.#current = { certificatePem, keyPem }
    return this.#current
  }

  forget(): void {
    this.#certificate.forget()
    this.#key.forget()
  }
}

type PemText = Pick<KeptFile, 'text' | 'forget'>

function toText(source: PemSource, { files, clock }: ClientCertificateSourceDeps): PemText {
  if (source.kind === 'file') return new KeptFile(files, source.path, clock)
  return { text: () => Promise.resolve(source.pem), forget() {} }
}

import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import type { KubeletTls, KubeletTrust } from './backend.ts'

export interface KubeletCredentialsDeps {
  /** The API's own authority, in PEM form. */
  readonly authorityPem: string
  readonly certificate: KeyedCertificate
  /** How kubelets prove themselves, at the moment. */
  readonly trust?: (() => KubeletTrust) | undefined
}

/** What the API shows to kubelets, and what it expects of them. */
export class KubeletCredentials {
  readonly #deps: KubeletCredentialsDeps
  #certificate: KeyedCertificate

  constructor(deps: KubeletCredentialsDeps) {
    this.#deps = deps
    this.#certificate = deps.certificate
  }

  /** Takes another certificate for connections to come. */
  reload(certificate: KeyedCertificate): void {
    this.#certificate = certificate
  }

  /** For the next connection. */
  tls(): KubeletTls {
    const { certificatePem, keyPem } = this.#certificate
    return { ca: this.#deps.authorityPem, ...this.#deps.trust?.(), cert: certificatePem, key: keyPem }
  }
}

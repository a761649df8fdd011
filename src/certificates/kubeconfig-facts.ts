import type { CertificatePair } from './certificate-provider.ts'
import type { CertificateFiles } from './read-pem.ts'

/** What a kubeconfig file says in its current context, as far as certificates need it. Paths are absolute. */
export interface KubeconfigFacts {
  readonly server: string
  /** Whom to trust; undefined for those whom the machine trusts. */
  readonly authority: { readonly file: string } | { readonly pem: string } | undefined
  readonly skipsVerification: boolean
  /** tls-server-name */
  readonly serverName: string | undefined
  readonly proxyUrl: string | undefined
  /** The client certificate and its key, in the file itself or beside it. */
  readonly client: CertificatePair | CertificateFiles | undefined
}

import type { PemSource } from '../../protocols/kube-api/kubeconfig/kubeconfig.ts'

/** What a kubeconfig file says in its current context, as far as certificates need it. Paths are absolute. */
export interface KubeconfigInfo {
  readonly server: URL
  /** The authorities to trust; undefined for those of the machine. */
  readonly authority: PemSource | undefined
  readonly insecure: boolean
  /** tls-server-name */
  readonly serverName: string | undefined
  readonly proxy: URL | undefined
  readonly user: { readonly certificate: CertificateSource | undefined }
}

/** The client certificate of a kubeconfig file. */
export interface CertificateSource {
  readonly certificate: PemSource
  readonly key: PemSource
}

/** Text in PEM form, or where it lies. */
export type PemSource =
  | { readonly kind: 'data'; readonly pem: string }
  | { readonly kind: 'file'; readonly path: string }

/** A program that gives credentials. */
export interface ExecPlugin {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1'
  /** A name to search in PATH, or a full path. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly installHint: string
  readonly provideClusterInfo: boolean
}

/** How the client says who it is; none of these is fine too. */
export interface KubeconfigUser {
  readonly certificate: { readonly certificate: PemSource; readonly key: PemSource } | undefined
  readonly login:
    | { readonly kind: 'none' }
    | { readonly kind: 'token'; readonly token: string }
    | { readonly kind: 'tokenFile'; readonly path: string; readonly fallback: string | undefined }
    | { readonly kind: 'basic'; readonly username: string; readonly password: string }
    | { readonly kind: 'exec'; readonly plugin: ExecPlugin }
  /** Who the server shall take it for instead. */
  readonly impersonate: Readonly<Record<string, string>>
}

/** The cluster and the user of a kubeconfig file's current context. */
export interface Kubeconfig {
  readonly path: string
  readonly server: URL
  /** Undefined: whom the machine trusts. */
  readonly authority: PemSource | undefined
  readonly insecure: boolean
  readonly serverName: string | undefined
  readonly proxy: URL | undefined
  /** For exec plugins that want to know of the cluster; as it stands in the file. */
  readonly execConfig: unknown
  readonly user: KubeconfigUser
}

/** A kubeconfig file that cannot be used. Its message never has a secret in it. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
}

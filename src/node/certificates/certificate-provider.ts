/** A certificate with its chain, and its key, as TLS takes them. */
export interface CertificatePair {
  readonly certificatePem: string
  readonly keyPem: string
}

/** Gives the certificate to show now; it changes while the agent runs. */
export interface CertificateProvider {
  /** Undefined while there is none that is valid. */
  current(): CertificatePair | undefined
  /** Calls back after each change, until the result is called. */
  onChange(listener: () => void): () => void
}

/** What is measured about certificates that are asked for. */
export interface CertificateMetrics {
  /** A certificate could not be renewed. */
  renewError(): void
  /** A certificate was replaced, at this age in seconds. */
  rotated(seconds: number): void
}

/** Gives files that cannot be used another ending, out of the way, and reports it. */
export type SetAside = (paths: readonly string[], suffix: string) => Promise<void>

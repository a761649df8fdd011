/** A certificate with its key, in PEM form. */
export interface ClientCertificate {
  readonly certificatePem: string
  readonly keyPem: string
}

/** Who the client is. */
export interface KubeCredentials {
  /** Shown when a connection is made. */
  readonly certificate: ClientCertificate | undefined
  /** Shown with each request, such as "authorization". Never logged. */
  readonly headers: Readonly<Record<string, string>>
}

/** Where credentials come from. A new certificate retires all connections that were made with the old one. */
export interface CredentialsProvider {
  /** Asked before every request, so answers from memory are the rule. */
  current(signal: AbortSignal): Promise<KubeCredentials>
  /** The server did not know these. Resolves to true when there are others now, and the request is worth repeating. */
  onUnauthorized(used: KubeCredentials, signal: AbortSignal): Promise<boolean>
}

/** Nothing but the certificate: it says who we are, and a server that does not know it will not know it better the next time. */
export function certificateCredentials(certificates: {
  current(): ClientCertificate | undefined
}): CredentialsProvider {
  return {
    current: async () => ({ certificate: certificates.current(), headers: {} }),
    onUnauthorized: async () => false,
  }
}

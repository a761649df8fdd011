/** What a client counts. All labels are closed sets: methods, status codes, the one host. */
export interface KubeClientMetrics {
  /** One attempt, with every repetition of its own: rest_client_requests_total and rest_client_request_duration_seconds. */
  request(attempt: {
    readonly method: string
    /** As in "200"; "<error>" when no answer came. */
    readonly code: string
    readonly host: string
    readonly seconds: number
    /** Not the first attempt: rest_client_request_retries_total. */
    readonly isRepeat: boolean
  }): void
  /** How long a request waited for its turn: rest_client_rate_limiter_duration_seconds. */
  waited(wait: { readonly method: string; readonly host: string; readonly seconds: number }): void
  /** An answer was read to its end; watches have none. rest_client_request_size_bytes and rest_client_response_size_bytes. */
  sized(exchange: {
    readonly method: string
    readonly host: string
    readonly requestBytes: number
    readonly responseBytes: number
  }): void
}

/** How a run of a credential plugin ended: rest_client_exec_plugin_call_total. */
export interface CredentialPluginCall {
  readonly status: 'no_error' | 'plugin_execution_error' | 'plugin_not_found_error' | 'client_internal_error'
  readonly code: number
}

/** A certificate that a credential plugin gave: rest_client_exec_plugin_ttl_seconds and rest_client_exec_plugin_certificate_rotation_age. */
export interface PluginCertificate {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** How old the one before it was; undefined for the first. */
  readonly replacedAgeSeconds: number | undefined
}

/** A name was looked up to connect: rest_client_dns_resolution_duration_seconds. */
export type OnHostResolved = (lookup: { readonly host: string; readonly seconds: number }) => void

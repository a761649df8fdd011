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
}

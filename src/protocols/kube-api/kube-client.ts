/** One request to a Kubernetes API. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Without the query, as in "/api/v1/nodes/a". */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** A JSON value. */
  readonly body?: unknown
  /** Only a patch needs to say it. */
  readonly contentType?:
    | 'application/json'
    | 'application/json-patch+json'
    | 'application/merge-patch+json'
    | 'application/strategic-merge-patch+json'
  /** For all of it, with every repetition; without one only the client's own limits hold. */
  readonly timeoutMs?: number
}

/** One line of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: unknown
}

/** A client of a Kubernetes API: rate limited, with credentials and connections of its own making. */
export interface KubeClient {
  /**
   * Resolves to the decoded answer. Fails with a KubeApiError when the server refused, with a KubeUnreachableError when no whole answer
   * came. What may be repeated without harm is repeated as the rules of clients say; nothing else is.
   */
  send<T>(request: KubeRequest, signal: AbortSignal): Promise<T>
  /** The events of a watch; ends when the server ends it, fails as send() does. The path and query say what is watched. */
  watch(request: Pick<KubeRequest, 'path' | 'query'>, signal: AbortSignal): AsyncIterable<WatchEvent>
}

/** The server answered, and refused. */
export class KubeApiError extends Error {
  override readonly name = 'KubeApiError'
  /** The HTTP status. */
  readonly code: number
  /** As in a metav1.Status: NotFound, AlreadyExists, Conflict, Forbidden, Expired …; empty when the server gave none. */
  readonly reason: string
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    info: { readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number | undefined },
  ) {
    super(message)
    this.code = info.code
    this.reason = info.reason
    this.retryAfterSeconds = info.retryAfterSeconds
  }
}

/** Whether the server has answered that there is no such object. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubeApiError && error.code === 404
}

/** No whole answer came: the server could not be reached, the connection broke or went silent, or what came makes no sense. */
export class KubeUnreachableError extends Error {
  override readonly name = 'KubeUnreachableError'
}

import { KubeApiError, KubeUnreachableError } from './kube-client.ts'

/** The API is unreachable or failing, so it has neither accepted nor rejected the request. */
export function isApiAway(error: unknown): boolean {
  return error instanceof KubeUnreachableError || (error instanceof KubeApiError && error.code >= 500)
}

import type { Logger } from '../../base/telemetry/logger.ts'
import type { Caller } from '../http/route.ts'
import type { Answer } from '../http/send-answer.ts'
import type { AccessReviews } from './access-reviews.ts'
import { computeAccessQuestion } from './compute-access-question.ts'
import { AUTHENTICATED_GROUP } from './credential-result.ts'

/** What decides what a caller may do: nothing, a client certificate alone, or the API server. */
export type AuthorizationMode =
  | { readonly kind: 'AlwaysAllow' }
  | { readonly kind: 'ClientCertificate' }
  | { readonly kind: 'Webhook'; readonly reviews: Pick<AccessReviews, 'isAllowed'> }

/** Decides whether a caller may do what it asks for; gives what to answer when not. */
export type Authorize = (
  caller: Caller,
  request: { readonly method: string; readonly path: string },
  signal: AbortSignal,
) => Promise<Answer | undefined>

export function createAuthorizer(mode: AuthorizationMode, log: Logger): Authorize {
  return async (caller, { method, path }, signal) => {
    const { verb, subresources } = computeAccessQuestion(method, path)
    const who = `user=${caller.name}, verb=${verb}, resource=nodes`
    const forbidden = { status: 403, body: `Forbidden (${who}, subresource(s)=[${subresources.join(' ')}])\n` }
    switch (mode.kind) {
      case 'AlwaysAllow':
        return undefined
      case 'ClientCertificate':
        // Tokens cannot be checked without an API server: a caller that is not anonymous has shown a certificate.
        return caller.groups.includes(AUTHENTICATED_GROUP) ? undefined : forbidden
      case 'Webhook':
        for (const subresource of subresources) {
          try {
            if (await mode.reviews.isAllowed(caller, { verb, subresource }, signal)) return undefined
          } catch (error) {
            if (!signal.aborted) log.error('cannot find out what a caller may do', { caller: caller.name, error })
            return { status: 500, body: `Authorization error (${who}, subresource=${subresource})\n` }
          }
        }
        return forbidden
    }
  }
}

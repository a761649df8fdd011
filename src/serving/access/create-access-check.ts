import type { AccessCheck } from '../http/access-check.ts'
import type { AuthenticateClient } from './create-client-authenticator.ts'
import type { Authorize } from './create-authorizer.ts'

/** Who it is, and then whether it may: for every request alike. */
export function createAccessCheck({
  authenticate,
  authorize,
}: {
  readonly authenticate: AuthenticateClient
  readonly authorize: Authorize
}): AccessCheck {
  return async (request, path, signal) => {
    const caller = await authenticate(request, signal)
    if (caller === undefined) return { refusal: { status: 401, body: 'Unauthorized' } }
    const refusal = await authorize(caller, { method: request.method ?? '', path }, signal)
    return refusal === undefined ? { caller } : { caller, refusal }
  }
}

import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { TokenAnswer } from '../rest/verbs/reviews.ts'
import { authenticateBootstrapToken, isLikelyBootstrapToken } from './authenticate-bootstrap-token.ts'
import { authenticateClientCertificate } from './authenticate-client-certificate.ts'
import type { AuthenticationResult } from './authenticate-client-certificate.ts'
import { authenticateToken, TOKEN_ISSUER } from './authenticate-token.ts'
import { isLikelyToken } from './json-web-token.ts'
import type { TokenSigner } from './json-web-token.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { ANONYMOUS_USER } from './user-names.ts'

/** What a client shows of itself. */
export interface ClientCredentials {
  /** As proved in the handshake. */
  readonly certificate?: X509Certificate | undefined
  /** Why the handshake found the certificate wanting. */
  readonly certificateFault?: string | undefined
  /** The header, as in "Bearer …". */
  readonly authorization?: string | undefined
}

export interface Authenticator {
  /** The user; ANONYMOUS_USER without good credentials. */
  authenticate(credentials: ClientCredentials): RequestUser
  reviewToken(token: string, audiences: readonly string[]): Promise<TokenAnswer>
}

export interface ApiAuthenticatorDeps {
  readonly authority: X509Certificate
  readonly signer: TokenSigner
  readonly objects: ObjectReader
  readonly clock: Clock
  readonly log: Logger
}

/** Knows users by certificate, then by token. ClientCredentials that are no good count as none, and only the log says why. */
export function createApiAuthenticator(deps: ApiAuthenticatorDeps): Authenticator {
  const byToken = (token: string, audiences: readonly string[]): AuthenticationResult => {
    const { signer, objects, clock } = deps
    if (isLikelyBootstrapToken(token)) return authenticateBootstrapToken(token, objects, clock.now())
    if (!isLikelyToken(token)) return { fault: 'the token has an unknown form' }
    return authenticateToken(token, { signer, objects, now: clock.now(), audiences })
  }
  return {
    authenticate({ certificate, certificateFault, authorization }) {
      const results: AuthenticationResult[] = []
      if (certificate !== undefined) {
        const fault = certificateFault
        results.push(
          fault === undefined
            ? authenticateClientCertificate(certificate, deps.authority, deps.clock.now())
            : { fault },
        )
      }
      const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
      if (token !== undefined && results[0]?.user === undefined) results.push(byToken(token, [TOKEN_ISSUER]))
      const user = results.find((result) => result.user !== undefined)?.user
      if (user !== undefined) return user
      for (const { fault } of results) deps.log.debug('credentials for the API are no good', { fault })
      return ANONYMOUS_USER
    },

    reviewToken(token, asked) {
      const audiences = asked.length === 0 ? [TOKEN_ISSUER] : asked
      const { user, fault } = byToken(token, audiences)
      if (user === undefined) return Promise.resolve({ authenticated: false, error: fault })
      // Only tokens of service accounts have audiences; the others are for the API alone.
      const meant = isLikelyBootstrapToken(token) ? [TOKEN_ISSUER] : (deps.signer.read(token)?.aud ?? [])
      const common = audiences.filter((each) => meant.includes(each))
      if (common.length === 0)
        return Promise.resolve({ authenticated: false, error: 'the token is meant for another audience' })
      return Promise.resolve({ authenticated: true, user, audiences: common })
    },
  }
}

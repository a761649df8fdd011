import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { ANONYMOUS_CALLER } from '../http/access-check.ts'
import type { Caller } from '../http/route.ts'
import { authenticatePeerCertificate, readPeerCertificate } from './authenticate-peer-certificate.ts'
import type { ClientAuthorities } from './client-authorities.ts'
import { ABSENT, invalidCredential } from './credential-result.ts'
import type { CredentialResult } from './credential-result.ts'
import { findHeaderToken, findSubprotocolToken, withoutToken } from './find-bearer-token.ts'
import type { BearerToken } from './find-bearer-token.ts'
import type { AccessMetrics } from '../../metrics/access-metrics.ts'
import type { TokenReviews } from './token-reviews.ts'

export interface ClientAuthenticatorDeps {
  /** Undefined: certificates of clients are ignored. */
  readonly authorities: Pick<ClientAuthorities, 'certificates'> | undefined
  /** Undefined: tokens are ignored. */
  readonly tokens: Pick<TokenReviews, 'authenticate'> | undefined
  /** A client without credentials is let through as anonymous. */
  readonly anonymous: boolean
  /** The certificate of a client may name its UID. Parity: the gate AllowParsingUserUIDFromCertAuth. */
  readonly readsUid: boolean
  readonly metrics: Pick<AccessMetrics, 'clientCertificateSeen'>
  readonly clock: Clock
  readonly log: Logger
}

/** Finds out who sends a request; undefined when that does not come out. */
export type AuthenticateClient = (request: IncomingMessage, signal: AbortSignal) => Promise<Caller | undefined>

/**
 * Certificate, token, token among the subprotocols, anonymous, in this order. The first that is good counts, whatever was wrong with those
 * before; but who showed something that is not good is never anonymous.
 */
export function createClientAuthenticator(deps: ClientAuthenticatorDeps): AuthenticateClient {
  const { authorities, tokens, anonymous, readsUid, metrics, clock, log } = deps
  const readCertificate = (request: IncomingMessage): CredentialResult => {
    if (authorities === undefined) return ABSENT
    const now = clock.now()
    const presented = readPeerCertificate(request)
    const result = authenticatePeerCertificate(presented, authorities.certificates, { now, readsUid })
    const [own] = presented.chain
    if (result.kind === 'valid' && own !== undefined)
      metrics.clientCertificateSeen((own.validToDate.getTime() - now) / 1000)
    return result
  }
  const readToken = async (found: BearerToken, signal: AbortSignal): Promise<CredentialResult> => {
    if (found.kind === 'broken') return invalidCredential(found.why)
    return found.kind === 'absent' || tokens === undefined ? ABSENT : await tokens.authenticate(found.token, signal)
  }
  const ways: readonly ((request: IncomingMessage, signal: AbortSignal) => Promise<CredentialResult>)[] = [
    (request) => Promise.resolve(readCertificate(request)),
    ...(tokens === undefined
      ? []
      : [
          (request: IncomingMessage, signal: AbortSignal) => readToken(findHeaderToken(request.headers), signal),
          (request: IncomingMessage, signal: AbortSignal) => readToken(findSubprotocolToken(request.headers), signal),
        ]),
  ]
  return async (request, signal) => {
    const faults: unknown[] = []
    for (const way of ways) {
      const result = await attempt(() => way(request, signal), signal)
      if (result.kind === 'valid') {
        hideSecrets(request)
        return result.caller
      }
      if (result.kind === 'invalid') faults.push(result.why)
    }
    if (faults.length > 0) log.debug('credentials are not good', { from: request.socket.remoteAddress, faults })
    if (faults.length > 0 || !anonymous) return undefined
    hideSecrets(request)
    return ANONYMOUS_CALLER
  }

  async function attempt(way: () => Promise<CredentialResult>, signal: AbortSignal): Promise<CredentialResult> {
    try {
      return await way()
    } catch (error) {
      if (!signal.aborted) log.error('cannot find out who sends a request', { error })
      return invalidCredential('the API server gave no answer')
    }
  }
}

/** Handlers and proxies have no use for the token. */
function hideSecrets(request: IncomingMessage): void {
  const hasProtocols = request.headers['sec-websocket-protocol'] !== undefined
  const protocols = withoutToken(request.headers)
  delete request.headers.authorization
  if (hasProtocols) request.headers['sec-websocket-protocol'] = protocols
  request.rawHeaders = request.rawHeaders.flatMap((name, index, all) => {
    if (index % 2 === 1 || name.toLowerCase() === 'authorization') return []
    return name.toLowerCase() === 'sec-websocket-protocol' ? [name, protocols] : [name, all[index + 1] ?? '']
  })
}

import { FatalError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { hostConfigFiles } from '../../system/files/host-config-files.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { AccessReviews } from './access-reviews.ts'
import { ClientAuthorities } from './client-authorities.ts'
import type { AccessMetrics } from '../../metrics/access-metrics.ts'
import { createClientAuthenticator } from './create-client-authenticator.ts'
import { createAuthorizer } from './create-authorizer.ts'
import type { AuthorizationMode, Authorize } from './create-authorizer.ts'
import { TokenReviews } from './token-reviews.ts'
import type { AccessCheck } from '../http/access-check.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { AuthenticateClient } from './create-client-authenticator.ts'

export interface CreateAccessDeps {
  readonly settings: Pick<Settings, 'access' | 'config' | 'gates' | 'nodeName'>
  /** Undefined on a node without an API server. */
  readonly client: Pick<KubeClient, 'send'> | undefined
  readonly metrics: AccessMetrics
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** Who may use the kubelet's API, as configured. */
export interface Access {
  readonly checkAccess: AccessCheck
  readonly authorities: ClientAuthorities | undefined
  /** Follows the file of the authorities; undefined where they stay as they were at the start. */
  readonly follow: ((signal: AbortSignal) => Promise<void>) | undefined
}

/** Builds what decides about requests. Questions to the API server end with the lifetime. */
export async function createAccess(deps: CreateAccessDeps, lifetime: AbortSignal): Promise<Access> {
  const { settings, metrics, clock, log, random } = deps
  const { access, config } = settings
  const readFile = (path: string, maxBytes: number) => hostConfigFiles.readFile(path, maxBytes)
  const authorities =
    access.clientCaFile === ''
      ? undefined
      : await ClientAuthorities.load({ path: access.clientCaFile, readFile, clock, log })
  const tokens = access.tokenWebhook
    ? new TokenReviews(
        {
          client: need(deps.client, 'authentication'),
          metrics,
          clock,
          random,
          cacheTtlMs: config.authentication.webhook.cacheTTL,
        },
        lifetime,
      )
    : undefined
  const readsUid = settings.gates.enabled('AllowParsingUserUIDFromCertAuth')
  const authenticate = createClientAuthenticator({
    authorities,
    tokens,
    readsUid,
    metrics,
    anonymous: access.anonymous,
    clock,
    log,
  })
  const authorize = createAuthorizer(toMode(deps, lifetime), log)
  const isFollowed = settings.gates.enabled('ReloadKubeletClientCAFile')
  const follow = isFollowed && authorities ? (signal: AbortSignal) => authorities.run(signal) : undefined
  return { checkAccess: createAccessCheck({ authenticate, authorize }), authorities, follow }
}

function toMode(
  { settings, client, metrics, clock, random }: CreateAccessDeps,
  lifetime: AbortSignal,
): AuthorizationMode {
  const { access, config, nodeName } = settings
  if (access.authorization !== 'Webhook') return { kind: access.authorization }
  const { cacheAuthorizedTTL, cacheUnauthorizedTTL } = config.authorization.webhook
  const reviews = new AccessReviews(
    {
      client: need(client, 'authorization'),
      metrics,
      clock,
      random,
      nodeName,
      allowedTtlMs: cacheAuthorizedTTL,
      deniedTtlMs: cacheUnauthorizedTTL,
    },
    lifetime,
  )
  return { kind: 'Webhook', reviews }
}

function need<T>(client: T | undefined, what: string): T {
  if (client !== undefined) return client
  throw new FatalError(`Cannot use webhook ${what}: there is no API server to ask, expected --kubeconfig`)
}

/** Who it is, and then whether it may: for every request alike. */
function createAccessCheck({
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

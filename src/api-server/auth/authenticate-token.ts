import type { ApiObject } from '../store/api-object.ts'
import type { AuthenticationResult } from './authenticate-client-certificate.ts'
import type { ClaimedObject, KubernetesClaims, TokenClaims, TokenSigner } from './json-web-token.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { authenticated, SERVICE_ACCOUNT_PREFIX, serviceAccountGroups } from './user-names.ts'

/** The issuer of tokens, and the audience of tokens for the API itself. */
export const TOKEN_ISSUER = 'https://kubernetes.default.svc.cluster.local'

// The clock may have been set back a little since a token was issued.
const EARLY_SECONDS = 60
// What is being deleted still works for this long: it has to be able to end in order.
const DELETION_SECONDS = 60

export interface TokenAuthentication {
  readonly signer: TokenSigner
  readonly objects: ObjectReader
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The token must be meant for one of these. */
  readonly audiences: readonly string[]
}

/** The service account that a token stands for, if it and what the token is bound to are still there. */
export function authenticateToken(token: string, deps: TokenAuthentication): AuthenticationResult {
  const claims = deps.signer.read(token)
  if (claims === undefined) return { fault: 'the token is none that this API has signed' }
  const fault = findClaimFault(claims, deps) ?? findObjectFault(claims['kubernetes.io'], deps)
  return fault === undefined ? { user: toUser(claims) } : { fault }
}

function findClaimFault(claims: TokenClaims, { now, audiences }: TokenAuthentication): string | undefined {
  const seconds = now / 1000
  const { namespace, serviceaccount } = claims['kubernetes.io']
  if (claims.iss !== TOKEN_ISSUER) return 'the token has another issuer'
  if (claims.sub !== `${SERVICE_ACCOUNT_PREFIX}${namespace}:${serviceaccount.name}`)
    return 'the token contradicts itself'
  if (seconds >= claims.exp) return 'the token has expired'
  if (seconds < claims.nbf - EARLY_SECONDS) return 'the token is not valid yet'
  if (!claims.aud.some((each) => audiences.includes(each))) return 'the token is meant for another audience'
  return undefined
}

function findObjectFault(claims: KubernetesClaims, deps: TokenAuthentication): string | undefined {
  const { namespace, serviceaccount, pod, secret, node } = claims
  const check = (resource: string, where: string, claimed: ClaimedObject | undefined) => {
    if (claimed === undefined) return undefined
    const object = deps.objects.get({ resource, namespace: where, name: claimed.name })
    return isPresent(object, claimed.uid, deps.now) ? undefined : `the ${resource.slice(0, -1)} of the token is gone`
  }
  return (
    check('serviceaccounts', namespace, serviceaccount) ??
    check('pods', namespace, pod) ??
    check('secrets', namespace, secret) ??
    // A pod's token only names its node; one that is bound to the node alone ends with it.
    (pod === undefined ? check('nodes', '', node) : undefined)
  )
}

function isPresent(object: ApiObject | undefined, uid: string, now: number): boolean {
  if (object === undefined || object.metadata.uid !== uid) return false
  const { deletionTimestamp } = object.metadata
  return deletionTimestamp === undefined || Date.parse(deletionTimestamp) + DELETION_SECONDS * 1000 > now
}

function toUser({ sub, jti, 'kubernetes.io': { namespace, serviceaccount, pod, node } }: TokenClaims) {
  const prefix = 'authentication.kubernetes.io'
  const extra = {
    [`${prefix}/credential-id`]: [`JTI=${jti}`],
    ...(pod && { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] }),
    ...(node && { [`${prefix}/node-name`]: [node.name], [`${prefix}/node-uid`]: [node.uid] }),
  }
  return authenticated({ name: sub, uid: serviceaccount.uid, groups: serviceAccountGroups(namespace), extra })
}

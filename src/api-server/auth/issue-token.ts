import type { BoundObjectReference, TokenRequestSpec } from '../../model/generated/api-groups.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { badRequest, conflict, forbidden, invalid, notFound } from '../api-error.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { ObjectIn } from '../kinds/stored-types.ts'
import type { ApiObject } from '../store/api-object.ts'
import { TOKEN_ISSUER } from './authenticate-token.ts'
import { findTokenFault } from './find-token-fault.ts'
import type { KubernetesClaims, TokenSigner } from './json-web-token.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { toApiTime } from '../../model/text/api-time.ts'

export interface TokenIssuer {
  readonly signer: TokenSigner
  readonly objects: ObjectReader
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly newUid: () => string
}

/** A request for a token: its user, the service account, and what it asks for. */
export interface TokenQuestion {
  readonly user: RequestUser
  readonly namespace: string
  /** Of the service account. */
  readonly name: string
  readonly spec: TokenRequestSpec
}

const SHORTEST_SECONDS = 600
const DEFAULT_SECONDS = 3600
const LONGEST_SECONDS = 2 ** 32
const SPEC = FieldPath.root.child('spec')

/** Answers a TokenRequest: its spec with what was not said, and the token. Throws an ApiError when there is to be none. */
export function issueToken(
  issuer: TokenIssuer,
  question: TokenQuestion,
): { readonly spec: object; readonly status: object } {
  const { namespace, name, spec } = question
  const account = issuer.objects.get({ resource: 'serviceaccounts', namespace, name })
  if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts', name })
  const seconds = readSeconds(spec)
  const audiences = spec.audiences?.length ? spec.audiences : [TOKEN_ISSUER]
  const bound = toClaims(issuer, question, account)
  const fault = findTokenFault(issuer.objects, question.user, {
    namespace,
    audiences: spec.audiences ?? [],
    pod: bound.pod,
  })
  if (fault !== undefined) throw forbidden({ group: '', resource: 'serviceaccounts', name }, fault)
  const iat = Math.floor(issuer.now / 1000)
  const token = issuer.signer.sign({
    iss: TOKEN_ISSUER,
    sub: `system:serviceaccount:${namespace}:${name}`,
    aud: audiences,
    iat,
    nbf: iat,
    exp: iat + seconds,
    jti: issuer.newUid(),
    'kubernetes.io': bound,
  })
  const expirationTimestamp = toApiTime((iat + seconds) * 1000)
  return {
    spec: { ...spec, audiences, expirationSeconds: seconds },
    status: { token, expirationTimestamp },
  }
}

function readSeconds({ expirationSeconds = DEFAULT_SECONDS }: TokenRequestSpec): number {
  const problems = new ProblemList()
  const path = SPEC.child('expirationSeconds')
  if (expirationSeconds < SHORTEST_SECONDS) {
    problems.invalid(path, expirationSeconds, 'may not specify a duration less than 10 minutes')
  } else if (expirationSeconds > LONGEST_SECONDS) {
    problems.invalid(path, expirationSeconds, `may not specify a duration larger than ${LONGEST_SECONDS} seconds`)
  }
  if (problems.violations.length === 0) return Number(expirationSeconds)
  throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest', name: '' }, problems.violations)
}

function toClaims(issuer: TokenIssuer, { namespace, name, spec }: TokenQuestion, account: ApiObject): KubernetesClaims {
  const claims = { namespace, serviceaccount: { name, uid: account.metadata.uid ?? '' } }
  const reference = spec.boundObjectRef
  if (reference === undefined) return claims
  switch (`${reference.apiVersion}/${reference.kind}`) {
    case 'v1/Pod': {
      const pod = find(issuer, 'pods', namespace, reference)
      if ((pod.spec?.serviceAccountName || 'default') !== name) {
        throw rejectReference(`pod "${pod.metadata.name}" has another service account`)
      }
      const node = pod.spec?.nodeName ? nodeClaim(issuer, pod.spec.nodeName) : {}
      return { ...claims, pod: namedOf(pod), ...node }
    }
    case 'v1/Secret':
      return { ...claims, secret: namedOf(find(issuer, 'secrets', namespace, reference)) }
    case 'v1/Node':
      return { ...claims, node: namedOf(find(issuer, 'nodes', '', reference)) }
    default:
      throw rejectReference(`an object of kind "${reference.kind ?? ''}", expected Pod, Secret or Node`)
  }
}

function nodeClaim({ objects }: TokenIssuer, name: string): Pick<KubernetesClaims, 'node'> {
  const node = objects.get({ resource: 'nodes', namespace: '', name })
  return node === undefined ? {} : { node: namedOf(node) }
}

function find<R extends string>(
  { objects }: TokenIssuer,
  resource: R,
  namespace: string,
  wanted: BoundObjectReference,
): ObjectIn<R> {
  const name = wanted.name ?? ''
  const object = objects.get({ resource, namespace, name })
  if (object === undefined) throw notFound({ group: '', resource, name })
  const { uid } = object.metadata
  if (wanted.uid && wanted.uid !== uid) {
    throw conflict(
      { group: '', resource, name },
      `the UID in the bound object reference (${wanted.uid}) does not match the UID in record (${uid})`,
    )
  }
  return object
}

function namedOf({ metadata: { name = '', uid = '' } }: ApiObject) {
  return { name, uid }
}

function rejectReference(why: string) {
  return badRequest(`cannot bind the token: ${why}`)
}

import type {
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from '../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import { badRequest, invalid } from '../../api-error.ts'
import type { ApiError } from '../../api-error.ts'
import type { RequestUser, Resource } from '../../kinds/resource.ts'
import type { ApiObject } from '../../store/api-object.ts'
import { decodeBody } from '../decode-body.ts'
import type { Document } from '../decode-body.ts'

/** May a user do something? Either attributes of a resource or a path. */
export interface ReviewedAccess {
  readonly user: RequestUser
  readonly resourceAttributes?: ResourceAttributes | undefined
  readonly nonResourceAttributes?: NonResourceAttributes | undefined
}

interface AccessAnswer {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
}

export interface TokenAnswer {
  readonly authenticated: boolean
  readonly user?: RequestUser
  readonly audiences?: readonly string[]
  readonly error?: string
}

/** The part of the server that knows users and what they may do. */
export interface Reviewers {
  readonly reviewAccess: (question: ReviewedAccess) => Promise<AccessAnswer>
  readonly reviewToken: (token: string, audiences: readonly string[]) => Promise<TokenAnswer>
  /** Everything that a user may do, as the status of a SelfSubjectRulesReview. */
  readonly reviewRules: (user: RequestUser, namespace: string) => object
}

/** Answers a review: the object with its status. */
export async function answerReview(
  reviewers: Reviewers,
  { group, version, kind }: Resource,
  document: Document,
  { user, namespace }: { readonly user: RequestUser; readonly namespace: string },
): Promise<ApiObject> {
  const decode = <N extends string>(typeName: N) => decodeBody(document, { group, version, kind, typeName }).object
  switch (kind) {
    case 'SelfSubjectReview':
      return { ...decode(kind), status: { userInfo: toUserInfo(user) } }
    case 'TokenReview': {
      const asked = decode(kind)
      if (!asked.spec.token) throw badRequest('token is required for TokenReview in authentication')
      const answer = await reviewers.reviewToken(asked.spec.token, asked.spec.audiences ?? [])
      return { ...asked, status: { ...answer, user: answer.user && toUserInfo(answer.user) } }
    }
    case 'SelfSubjectRulesReview': {
      const asked = decode(kind)
      if (!asked.spec.namespace) throw badRequest('no namespace on request')
      return { ...asked, status: reviewers.reviewRules(user, asked.spec.namespace) }
    }
    case 'SelfSubjectAccessReview': {
      const asked = decode(kind)
      return { ...asked, status: await reviewers.reviewAccess(toQuestion(asked.spec, user)) }
    }
    default: {
      const asked = decode('SubjectAccessReview')
      if (kind === 'LocalSubjectAccessReview') checkNamespace(asked.spec, namespace)
      return { ...asked, status: await reviewers.reviewAccess(toQuestion(asked.spec, toUser(asked.spec))) }
    }
  }
}

/** A review in a namespace is about that namespace and no other. */
function checkNamespace(
  { resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec,
  namespace: string,
): void {
  if (nonResourceAttributes !== undefined)
    throw rejectSpec('nonResourceAttributes', 'disallowed on this kind of request')
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== namespace)
    throw rejectSpec('resourceAttributes.namespace', `must match the namespace of the request: ${namespace}`)
}

function toQuestion(
  { resourceAttributes, nonResourceAttributes }: SelfSubjectAccessReviewSpec,
  user: RequestUser,
): ReviewedAccess {
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  if (resourceAttributes === undefined && nonResourceAttributes === undefined)
    throw rejectSpec('resourceAttributes', why)
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    throw rejectSpec('nonResourceAttributes', why)
  return { user, resourceAttributes, nonResourceAttributes }
}

function rejectSpec(field: string, why: string): ApiError {
  const problems = new ProblemList()
  problems.invalid(FieldPath.root.child('spec').child(field), '', why)
  return invalid({ group: 'authorization.k8s.io', kind: '', name: '' }, problems.violations)
}

function toUser({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): RequestUser {
  if (user === '' && groups.length === 0) throw rejectSpec('user', 'at least one of user or group must be specified')
  return { name: user, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) }
}

function toUserInfo({ name, uid, groups, extra }: RequestUser): object {
  return { username: name, ...(uid !== undefined && { uid }), groups, ...(extra && { extra }) }
}

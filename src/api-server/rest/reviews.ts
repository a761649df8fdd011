import { badRequest } from '../api-error.ts'
import type { RequestUser, Resource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'

/** May someone do something? Either attributes of a resource or a path. */
export interface AccessQuestion {
  readonly user: RequestUser
  readonly resourceAttributes?: Readonly<Record<string, unknown>> | undefined
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string } | undefined
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

/** Those who know users and what they may do. */
export interface Reviewers {
  readonly reviewAccess: (question: AccessQuestion) => Promise<AccessAnswer>
  readonly reviewToken: (token: string, audiences: readonly string[]) => Promise<TokenAnswer>
  /** All that someone may do, as the status of a SelfSubjectRulesReview. */
  readonly reviewRules: (user: RequestUser) => object
}

type Spec = Readonly<Record<string, unknown>>

/** Answers a review: the object with its status. */
export async function answerReview(
  reviewers: Reviewers,
  resource: Resource,
  asked: ApiObject,
  user: RequestUser,
): Promise<ApiObject> {
  const spec = (asked['spec'] ?? {}) as Spec
  switch (resource.kind) {
    case 'SelfSubjectReview':
      return { ...asked, status: { userInfo: toUserInfo(user) } }
    case 'TokenReview': {
      const audiences = (spec['audiences'] ?? []) as readonly string[]
      const answer = await reviewers.reviewToken((spec['token'] as string | undefined) ?? '', audiences)
      return { ...asked, status: { ...answer, user: answer.user && toUserInfo(answer.user) } }
    }
    case 'SelfSubjectRulesReview':
      // Rules hold in all namespaces, so nothing that is asked makes a difference.
      return { ...asked, status: reviewers.reviewRules(user) }
    default: {
      const isSelf = resource.kind === 'SelfSubjectAccessReview'
      return { ...asked, status: await reviewers.reviewAccess(toQuestion(spec, isSelf ? user : toUser(spec))) }
    }
  }
}

function toQuestion(spec: Spec, user: RequestUser): AccessQuestion {
  const { resourceAttributes, nonResourceAttributes } = spec
  if ((resourceAttributes === undefined) === (nonResourceAttributes === undefined)) {
    throw badRequest('exactly one of nonResourceAttributes or resourceAttributes must be specified')
  }
  return {
    user,
    resourceAttributes: resourceAttributes as AccessQuestion['resourceAttributes'],
    nonResourceAttributes: nonResourceAttributes as AccessQuestion['nonResourceAttributes'],
  }
}

function toUser(spec: Spec): RequestUser {
  const {
    user = '',
    groups = [],
    uid,
    extra,
  } = spec as {
    user?: string
    groups?: readonly string[]
    uid?: string
    extra?: Record<string, readonly string[]>
  }
  if (user === '' && groups.length === 0) throw badRequest('at least one of user or group must be specified')
  return { name: user, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) }
}

function toUserInfo({ name, uid, groups, extra }: RequestUser): object {
  return { username: name, ...(uid !== undefined && { uid }), groups, ...(extra && { extra }) }
}

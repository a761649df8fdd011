import type { Reviewers } from '../rest/verbs/reviews.ts'
import { findRules, missingText } from '../rbac/find-rules.ts'
import type { BoundRules } from '../rbac/find-rules.ts'
import type { Roles } from '../rbac/roles.ts'
import { authorize, READERS_RULES } from './authorize.ts'
import { NODES_RULES } from './authorize-node.ts'
import type { Authenticator } from './create-api-authenticator.ts'
import type { ResourceRule } from './authorization-decision.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { toAskedAttributes } from './request-attributes.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { ADMIN_GROUP, BOOTSTRAP_GROUP, nodeNameOf, READER_GROUP } from './user-names.ts'

/** Answers reviews: of tokens, and of what a user may do. */
export function createReviewers(
  authenticator: Authenticator,
  { objects, roles }: { readonly objects: ObjectReader; readonly roles: Roles },
): Reviewers {
  return {
    reviewAccess: (question) => {
      const { allowed, reason } = authorize(toAskedAttributes(question), objects, roles)
      return Promise.resolve({ allowed, ...(reason !== '' && { reason }) })
    },
    reviewToken: (token, audiences) => authenticator.reviewToken(token, audiences),
    reviewRules: (user, namespace) => computeRulesStatus(user, [...findRules(roles, user, namespace)]),
  }
}

/** The answer of a SelfSubjectRulesReview: what a user may do in a namespace. Nodes may more, depending on what is theirs. */
function computeRulesStatus(user: RequestUser, bound: readonly BoundRules[]): object {
  const { groups } = user
  if (groups.includes(ADMIN_GROUP)) {
    return {
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    }
  }
  const isNode = nodeNameOf(user) !== undefined
  const rules = [
    ...(groups.includes(READER_GROUP) ? READERS_RULES : []),
    ...(isNode ? NODES_RULES : []),
    ...(groups.includes(BOOTSTRAP_GROUP) ? BOOTSTRAP_RULES : []),
  ]
  const given = bound.flatMap((each) => each.rules)
  const missing = bound.flatMap((each) => (each.missing === undefined ? [] : [missingText(each.missing)]))
  const dependsOnObjects = isNode || groups.includes(BOOTSTRAP_GROUP)
  return {
    resourceRules: [
      ...given.filter(({ resources = [] }) => resources.length > 0),
      ...rules.map(({ verbs, group, resources }) => ({ verbs, apiGroups: [group], resources })),
    ],
    nonResourceRules: given
      .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: dependsOnObjects || missing.length > 0,
    ...((dependsOnObjects || missing.length > 0) && {
      evaluationError: dependsOnObjects ? 'what belongs to the node comes on top of it' : missing.join(', '),
    }),
  }
}

const BOOTSTRAP_RULES: readonly ResourceRule[] = [
  { verbs: ['create'], group: 'certificates.k8s.io', resources: ['certificatesigningrequests'] },
]

import type { Reviewers } from '../rest/verbs/reviews.ts'
import { authorize, DISCOVERY_PATHS, EVERYBODYS_RULES, READERS_RULES } from './authorize.ts'
import { NODES_RULES } from './authorize-node.ts'
import type { Authenticator } from './create-api-authenticator.ts'
import type { ResourceRule } from './decision.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { toAskedAttributes } from './request-attributes.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { ADMIN_GROUP, BOOTSTRAP_GROUP, nodeNameOf, READER_GROUP } from './user-names.ts'

/** Answers reviews: of tokens, and of what a user may do. */
export function createReviewers(authenticator: Authenticator, objects: ObjectReader): Reviewers {
  return {
    reviewAccess: (question) => Promise.resolve(authorize(toAskedAttributes(question), objects)),
    reviewToken: (token, audiences) => authenticator.reviewToken(token, audiences),
    reviewRules: computeRulesStatus,
  }
}

/** The answer of a SelfSubjectRulesReview: what a user may do anywhere. Nodes may more, depending on what is theirs. */
function computeRulesStatus(user: RequestUser): object {
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
    ...EVERYBODYS_RULES,
    ...(groups.includes(READER_GROUP) ? READERS_RULES : []),
    ...(isNode ? NODES_RULES : []),
    ...(groups.includes(BOOTSTRAP_GROUP) ? BOOTSTRAP_RULES : []),
  ]
  const dependsOnObjects = isNode || groups.includes(BOOTSTRAP_GROUP)
  return {
    resourceRules: rules.map(({ verbs, group, resources }) => ({ verbs, apiGroups: [group], resources })),
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: DISCOVERY_PATHS }],
    incomplete: dependsOnObjects,
    ...(dependsOnObjects && { evaluationError: 'what belongs to the node comes on top of it' }),
  }
}

const BOOTSTRAP_RULES: readonly ResourceRule[] = [
  { verbs: ['create'], group: 'certificates.k8s.io', resources: ['certificatesigningrequests'] },
]

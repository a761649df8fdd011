import { authorizeByRoles } from '../rbac/authorize-by-roles.ts'
import { READABLE_WORKLOADS } from '../rbac/readable-workloads.ts'
import { readRoles } from '../rbac/roles.ts'
import { authorizeNode } from './authorize-node.ts'
import { allow, deny, isIn, isOwnRequest } from './authorization-decision.ts'
import type { AuthorizationDecision, ResourceRule } from './authorization-decision.ts'
import { READ_VERBS } from '../kinds/verb-lists.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import type { RequestAttributes } from './request-attributes.ts'
import { ADMIN_GROUP, AUTHENTICATED_GROUP, BOOTSTRAP_GROUP, nodeNameOf, READER_GROUP } from './user-names.ts'

/** Paths of discovery and health. A star stands for the rest. */
const DISCOVERY_PATHS = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
]

/** What all may do whose credentials are good: ask about themselves. */
const EVERYBODYS_RULES: readonly ResourceRule[] = [
  { verbs: ['create'], group: 'authentication.k8s.io', resources: ['selfsubjectreviews'] },
  {
    verbs: ['create'],
    group: 'authorization.k8s.io',
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
]

/** What readers may: see everything but secrets. Named one by one, so that what is added is not readable by accident. */
export const READERS_RULES: readonly ResourceRule[] = [
  {
    verbs: READ_VERBS,
    group: '',
    resources: [
      'configmaps',
      'endpoints',
      'events',
      'namespaces',
      'namespaces/status',
      'nodes',
      'nodes/healthz',
      'nodes/metrics',
      'nodes/pods',
      'nodes/stats',
      'nodes/status',
      'persistentvolumeclaims',
      'persistentvolumeclaims/status',
      'persistentvolumes',
      'persistentvolumes/status',
      'pods',
      'pods/log',
      'pods/status',
      'serviceaccounts',
      'services',
      'services/status',
    ],
  },
  {
    verbs: READ_VERBS,
    group: 'apps',
    resources: READABLE_WORKLOADS.apps,
  },
  {
    verbs: READ_VERBS,
    group: 'autoscaling',
    resources: READABLE_WORKLOADS.autoscaling,
  },
  { verbs: READ_VERBS, group: 'batch', resources: READABLE_WORKLOADS.batch },
  { verbs: READ_VERBS, group: 'certificates.k8s.io', resources: ['certificatesigningrequests', 'clustertrustbundles'] },
  { verbs: READ_VERBS, group: 'coordination.k8s.io', resources: ['leases'] },
  { verbs: READ_VERBS, group: 'discovery.k8s.io', resources: ['endpointslices'] },
  { verbs: READ_VERBS, group: 'events.k8s.io', resources: ['events'] },
  { verbs: ['get', 'list'], group: 'metrics.k8s.io', resources: ['nodes', 'pods'] },
  {
    verbs: READ_VERBS,
    group: 'networking.k8s.io',
    resources: ['ingressclasses', 'ingresses', 'ingresses/status', 'networkpolicies'],
  },
  { verbs: READ_VERBS, group: 'node.k8s.io', resources: ['runtimeclasses'] },
  { verbs: READ_VERBS, group: 'policy', resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'] },
  {
    verbs: READ_VERBS,
    group: 'resource.k8s.io',
    resources: ['deviceclasses', 'resourceclaims', 'resourceclaims/status', 'resourceclaimtemplates', 'resourceslices'],
  },
  { verbs: READ_VERBS, group: 'scheduling.k8s.io', resources: ['priorityclasses'] },
  {
    verbs: READ_VERBS,
    group: 'storage.k8s.io',
    resources: ['csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'],
  },
]

/** Whether a user may do something: by a fixed role, or by what is bound to it. What neither allows is not allowed. */
export function authorize(
  attributes: RequestAttributes,
  objects: ObjectReader,
  roles = readRoles(objects),
): AuthorizationDecision {
  const { user } = attributes
  if (user.groups.includes(ADMIN_GROUP)) return allow('administrators may do everything')
  const fixed = authorizeByFixedRoles(attributes, objects)
  // What nodes do all day needs no look at bindings.
  if (fixed.allowed && nodeNameOf(user) !== undefined) return fixed
  const bound = authorizeByRoles(attributes, roles)
  if (bound.allowed) return bound
  return fixed.allowed || fixed.reason !== '' ? fixed : bound
}

function authorizeByFixedRoles(attributes: RequestAttributes, objects: ObjectReader): AuthorizationDecision {
  const { groups } = attributes.user
  if (!groups.includes(AUTHENTICATED_GROUP)) return deny('')
  if (!attributes.isResource) return authorizePath(attributes)
  if (isIn(EVERYBODYS_RULES, attributes)) return allow('every user may ask about itself')
  const node = nodeNameOf(attributes.user)
  const decisions = [
    ...(groups.includes(READER_GROUP) ? [authorizeReader(attributes)] : []),
    ...(node === undefined ? [] : [authorizeNode(attributes, node, objects)]),
    ...(groups.includes(BOOTSTRAP_GROUP) ? [authorizeBootstrap(attributes, objects)] : []),
  ]
  return decisions.find(({ allowed }) => allowed) ?? decisions[0] ?? deny('')
}

function authorizePath({ user, verb, path }: RequestAttributes): AuthorizationDecision {
  const isPublic = DISCOVERY_PATHS.some((each) =>
    each.endsWith('*') ? path.startsWith(each.slice(0, -1)) : path === each,
  )
  if (path === '/metrics' && verb === 'get' && user.groups.includes(READER_GROUP)) return allow('readers may read it')
  return isPublic && (verb === 'get' || verb === 'head') ? allow('every user may read discovery and health') : deny('')
}

function authorizeReader(attributes: RequestAttributes): AuthorizationDecision {
  return isIn(READERS_RULES, attributes) ? allow('readers may read it') : deny('readers may only read, and no secrets')
}

/** A node to be may ask for a certificate and see what became of it. */
function authorizeBootstrap(
  { user, verb, group, resource, subresource, name }: RequestAttributes,
  objects: ObjectReader,
): AuthorizationDecision {
  const isRequest = group === 'certificates.k8s.io' && resource === 'certificatesigningrequests' && subresource === ''
  if (!isRequest) return deny('a bootstrap token is only good for certificate requests')
  if (verb === 'create') return allow('a bootstrap token is good for certificate requests')
  if (READ_VERBS.includes(verb) && isOwnRequest(objects, name, user.name)) return allow('it is a request of its own')
  return deny('a bootstrap token may only see certificate requests of its own, by name')
}

import { each, get, patch, post, put, remove, watch } from '../contract-case.ts'
import type { ContractCase, ContractStep, ContractTable } from '../contract-case.ts'
import { ACCOUNTS, configMap, CONFIG_MAPS, PODS, SECRETS } from './objects.ts'
import * as r from './role-objects.ts'

type Fields = Readonly<Record<string, unknown>>

/** Users with one role each in the namespace, and what is asked about them: verb, resource, name, group. */
const ofNamespace: Readonly<Record<string, { rule: Fields; asked: readonly string[] }>> = {
  reader: {
    rule: { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
    asked: [
      'get pods a',
      'list pods',
      'watch pods',
      'get pods/log a',
      'get services a',
      'get pods a apps',
      'get pods',
      '* pods',
      'GET pods a',
    ],
  },
  logs: {
    rule: { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    asked: ['get pods/log a', 'get pods a', 'get pods/status a', 'get log a'],
  },
  'any-log': {
    rule: { apiGroups: ['*'], resources: ['*/log'], verbs: ['get'] },
    asked: ['get pods/log a', 'get jobs/log a batch', 'get pods a', 'get pods/status a', 'get */log a'],
  },
  'all-of-core': {
    rule: { apiGroups: [''], resources: ['*'], verbs: ['*'] },
    asked: [
      'get pods a',
      'delete secrets b',
      'create pods/exec a',
      'get deployments a apps',
      'impersonate serviceaccounts x',
      'use anything',
    ],
  },
  'all-groups': {
    rule: { apiGroups: ['*'], resources: ['pods'], verbs: ['get'] },
    asked: ['get pods a', 'get pods a metrics.k8s.io', 'get nodes a', 'get pods a *'],
  },
  named: {
    rule: {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['one', 'two'],
      verbs: ['get', 'list', 'create', 'update'],
    },
    asked: [
      'get configmaps one',
      'get configmaps two',
      'get configmaps three',
      'list configmaps',
      'create configmaps',
      'update configmaps one',
      'get configmaps',
      'delete configmaps one',
    ],
  },
  'sub-star': {
    rule: { apiGroups: [''], resources: ['pods/*'], verbs: ['get'] },
    asked: ['get pods/log a', 'get pods a', 'get pods/* a'],
  },
  scaler: {
    rule: {
      apiGroups: ['apps', 'extensions'],
      resources: ['deployments/scale', 'deployments'],
      verbs: ['patch', 'get'],
    },
    asked: [
      'patch deployments/scale a apps',
      'get deployments a extensions',
      'update deployments/scale a apps',
      'patch deployments/status a apps',
      'patch statefulsets/scale a apps',
      'get deployments a',
    ],
  },
  'verb-star': {
    rule: { apiGroups: ['batch'], resources: ['jobs'], verbs: ['*'] },
    asked: ['deletecollection jobs - batch', 'approve jobs x batch', 'get cronjobs x batch', 'get jobs/status x batch'],
  },
}

const urls: Readonly<Record<string, { rule: Fields; asked: readonly string[] }>> = {
  exact: {
    rule: { nonResourceURLs: ['/livez/ping'], verbs: ['get'] },
    asked: ['get /livez/ping', 'post /livez/ping', 'get /livez/ping/', 'get /livez/store', 'get /livez'],
  },
  below: {
    rule: { nonResourceURLs: ['/debug/*'], verbs: ['get', 'post'] },
    asked: ['get /debug/a', 'post /debug/a/b', 'get /debug', 'get /debug/', 'put /debug/a'],
  },
  prefix: { rule: { nonResourceURLs: ['/dev*'], verbs: ['*'] }, asked: ['get /dev', 'delete /developer', 'get /de'] },
  every: {
    rule: { nonResourceURLs: ['*'], verbs: ['get'] },
    asked: ['get /metrics', 'get /', 'patch /metrics', 'get /apis/x/y'],
  },
  inner: { rule: { nonResourceURLs: ['/a/*/c'], verbs: ['get'] }, asked: ['get /a/b/c', 'get /a/*/c'] },
}

function attributesOf(asked: string, namespace = '$(ns)'): Fields {
  const [verb = '', what = '', name = '', group = ''] = asked.split(' ')
  const [resource = '', subresource] = what.split('/')
  const named = name === '' || name === '-' ? {} : { name }
  return { verb, resource, group, namespace, ...named, ...(subresource !== undefined && { subresource }) }
}

const ask = (user: string, resourceAttributes: Fields, groups: readonly string[] = []): ContractStep =>
  post(r.ACCESS_REVIEWS, r.review('SubjectAccessReview', { user, groups, resourceAttributes }), { shows: ['status'] })

const resourceCases: readonly ContractCase[] = Object.entries(ofNamespace).flatMap(([user, { asked }]) =>
  asked.map((text) => each(`${user} may ${text}`, ask(`contract-${user}`, attributesOf(text)))),
)

const pathCases: readonly ContractCase[] = Object.entries(urls).flatMap(([user, { asked }]) =>
  asked.map((text) => {
    const [verb, path] = text.split(' ')
    const spec = { user: `contract-url-${user}`, nonResourceAttributes: { verb, path } }
    return each(
      `${user} may ${text}`,
      post(r.ACCESS_REVIEWS, r.review('SubjectAccessReview', spec), { shows: ['status'] }),
    )
  }),
)

const READ_SECRETS = { apiGroups: [''], resources: ['secrets'], verbs: ['list'] }
const SA = 'system:serviceaccount:$(ns)'

/** Who a binding is for. */
const subjectCases: readonly ContractCase[] = [
  each('a user by name', ask('contract-secrets', attributesOf('list secrets'))),
  each('a user of another name', ask('contract-secret', attributesOf('list secrets'))),
  each('a user whose name is a group', ask('contract-keepers', attributesOf('list secrets'))),
  each('a member of the group', ask('x', attributesOf('list secrets'), ['contract-keepers'])),
  each('a member of another group', ask('x', attributesOf('list secrets'), ['contract-keeper', 'secrets'])),
  each(
    'a group alone',
    post(
      r.ACCESS_REVIEWS,
      r.review('SubjectAccessReview', {
        groups: ['contract-keepers'],
        resourceAttributes: attributesOf('list secrets'),
      }),
      { shows: ['status'] },
    ),
  ),
  each('an account of the namespace of the binding', ask(`${SA}:near`, attributesOf('list secrets'))),
  each('an account of another namespace', ask('system:serviceaccount:default:near', attributesOf('list secrets'))),
  each('an account of a named namespace', ask('system:serviceaccount:kube-system:far', attributesOf('list secrets'))),
  each('an account of the name, elsewhere', ask(`${SA}:far`, attributesOf('list secrets'))),
  each('another namespace', ask('contract-secrets', attributesOf('list secrets', 'default'))),
  each('all namespaces', ask('contract-secrets', attributesOf('list secrets', ''))),
  each('a cluster role in a namespace', ask('contract-local', attributesOf('get nodes x'))),
  each('a cluster role in a namespace, elsewhere', ask('contract-local', attributesOf('get nodes x', 'default'))),
  each('a cluster role in a namespace, for the cluster', ask('contract-local', attributesOf('get nodes x', ''))),
  each('a cluster role everywhere, in a namespace', ask('contract-global', attributesOf('get nodes x'))),
  each('a cluster role everywhere, for the cluster', ask('contract-global', attributesOf('get nodes x', ''))),
  each(
    'paths by a binding of a namespace',
    post(
      r.ACCESS_REVIEWS,
      r.review('SubjectAccessReview', { user: 'contract-local', nonResourceAttributes: { verb: 'get', path: '/x' } }),
      { shows: ['status'] },
    ),
  ),
  each('a role that is not there', ask('contract-lost', attributesOf('get pods a'))),
  each('a cluster role that is not there', ask('contract-lost-everywhere', attributesOf('get pods a'))),
  each(
    'a list of one name counts as that name',
    ask('contract-named', { ...attributesOf('list configmaps'), fieldSelector: { rawSelector: 'metadata.name=one' } }),
  ),
  each(
    'an administrator',
    post(
      r.ACCESS_REVIEWS,
      r.review('SubjectAccessReview', {
        user: 'a',
        groups: ['system:masters'],
        resourceAttributes: attributesOf('get pods a'),
      }),
      { shows: ['status.allowed'] },
    ),
  ),
  each(
    'nobody in particular',
    post(r.ACCESS_REVIEWS, r.review('SubjectAccessReview', { resourceAttributes: attributesOf('get pods a') })),
  ),
  each('neither a resource nor a path', post(r.ACCESS_REVIEWS, r.review('SubjectAccessReview', { user: 'a' }))),
]

/** What view, edit and admin may in the namespace. */
const roleCases: readonly ContractCase[] = ['view', 'edit', 'admin'].flatMap((name) =>
  [
    'get pods a',
    'list secrets',
    'create pods',
    'create pods/exec a',
    'get pods/log a',
    'delete deployments a apps',
    'get roles a rbac.authorization.k8s.io',
    'create rolebindings - rbac.authorization.k8s.io',
    'create serviceaccounts/token a',
    'impersonate serviceaccounts a',
    'create resourcequotas',
    'get resourcequotas a',
    'update namespaces a',
    'list nodes',
    'create localsubjectaccessreviews - authorization.k8s.io',
    'bind clusterroles cluster-admin rbac.authorization.k8s.io',
    'escalate roles x rbac.authorization.k8s.io',
  ].map((text) => each(`${name}: ${text}`, ask(`contract-${name}`, attributesOf(text)))),
)

const me = r.as('contract-reader')
const CM = CONFIG_MAPS
const requestCases: readonly ContractCase[] = [
  each('reads what it may', get(PODS, { ...me, shows: ['kind'] })),
  each('reads one that is not there', get(`${PODS}/none`, me)),
  each('watches what it may not', watch(PODS, 1, me)),
  each('writes what it may not', post(PODS, { apiVersion: 'v1', kind: 'Pod' }, me)),
  each('replaces what it may not', put(`${PODS}/a`, {}, me)),
  each('patches what it may not', patch('merge', `${PODS}/a`, {}, me)),
  each('deletes what it may not', remove(`${PODS}/a`, undefined, me)),
  each('deletes all that it may not', remove(PODS, undefined, me)),
  each('reads a log that it may not', get(`${PODS}/a/log`, me)),
  each('lists everywhere what it may in a namespace', get('/api/v1/pods', me)),
  each('lists another group', get('/apis/apps/v1/namespaces/$(ns)/deployments', me)),
  each('lists what belongs to the cluster', get('/api/v1/nodes', me)),
  each('reads of a resource that nobody knows', get('/api/v1/namespaces/$(ns)/unknowns/x', me)),
  each('reads of a group that nobody knows', get('/apis/example.com/v9/things', me)),
  each('a path that it may not', get('/metrics', me)),
  each('the paths of discovery', get('/apis/apps/v1', { ...me, shows: ['kind'] })),
  each('reads by a role that is not there', get(`${PODS}/a`, r.as('contract-lost'))),
  each(
    'names: one that it may',
    post(CM, configMap('one'), { shows: 'code' }),
    get(`${CM}/one`, { ...r.as('contract-named'), shows: ['metadata.name'] }),
  ),
  each('names: one that it may not', get(`${CM}/three`, r.as('contract-named'))),
  each('names: all', get(CM, r.as('contract-named'))),
  each(
    'names: a list of one',
    get(`${CM}?fieldSelector=metadata.name%3Done`, { ...r.as('contract-named'), shows: ['items.*.metadata.name'] }),
  ),
  each('names: a list of another', get(`${CM}?fieldSelector=metadata.name%3Dthree`, r.as('contract-named'))),
  each('names: a new one', post(CM, configMap('two'), r.as('contract-named'))),
  each('names: a replacement of one that is not there', put(`${CM}/two`, configMap('two'), r.as('contract-named'))),
  each(
    'a lease that is made by a replacement needs the right to make it',
    put(
      '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/l',
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } },
      r.as('contract-leases'),
    ),
  ),
  each('as an account that may', get(SECRETS, { ...r.as(`${SA}:near`), shows: ['kind'] })),
  each('as an account that may not', get(PODS, r.as(`${SA}:near`))),
  each('as an account without bindings', get(PODS, r.as(`${SA}:default`))),
  each('an account without bindings discovers', get('/api', { ...r.as(`${SA}:default`), shows: ['kind'] })),
  each(
    'the token of an account has its rights',
    post(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'near' } }, { shows: 'code' }),
    post(
      `${ACCOUNTS}/near/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      { keep: 'token', shows: 'code' },
    ),
    get(SECRETS, { user: 'anonymous', headers: { authorization: 'Bearer $(token.status.token)' }, shows: ['kind'] }),
    get(PODS, { user: 'anonymous', headers: { authorization: 'Bearer $(token.status.token)' } }),
    get(SECRETS.replace('$(ns)', 'default'), {
      user: 'anonymous',
      headers: { authorization: 'Bearer $(token.status.token)' },
    }),
  ),
  each(
    'asks about itself',
    post(r.OWN_ACCESS_REVIEWS, r.review('SelfSubjectAccessReview', { resourceAttributes: attributesOf('list pods') }), {
      ...me,
      shows: ['status'],
    }),
  ),
  each(
    'asks about itself, and may not',
    post(
      r.OWN_ACCESS_REVIEWS,
      r.review('SelfSubjectAccessReview', { resourceAttributes: attributesOf('delete pods') }),
      { ...me, shows: ['status'] },
    ),
  ),
  each(
    'asks about others',
    post(
      r.ACCESS_REVIEWS,
      r.review('SubjectAccessReview', { user: 'x', resourceAttributes: attributesOf('list pods') }),
      me,
    ),
  ),
  each(
    'asks about others in its namespace',
    post(
      r.LOCAL_REVIEWS,
      r.review('LocalSubjectAccessReview', { user: 'contract-reader', resourceAttributes: attributesOf('list pods') }),
      { ...r.as('contract-admin'), shows: ['status'] },
    ),
  ),
  each(
    'asks about others in its namespace, and may not',
    post(
      r.LOCAL_REVIEWS,
      r.review('LocalSubjectAccessReview', { user: 'x', resourceAttributes: attributesOf('list pods') }),
      me,
    ),
  ),
  ...['contract-reader', 'contract-named', 'contract-scaler', 'contract-url-below', 'contract-nobody'].map((user) =>
    each(
      `the rules of ${user}`,
      post(r.RULES_REVIEWS, r.review('SelfSubjectRulesReview', { namespace: '$(ns)' }), {
        ...r.as(user),
        shows: sortedRules,
      }),
    ),
  ),
  each(
    'the rules of a user elsewhere',
    post(r.RULES_REVIEWS, r.review('SelfSubjectRulesReview', { namespace: 'default' }), { ...me, shows: sortedRules }),
  ),
  each('the rules in no namespace', post(r.RULES_REVIEWS, r.review('SelfSubjectRulesReview', {}), me)),
  each(
    'the rules of one with a lost role',
    post(r.RULES_REVIEWS, r.review('SelfSubjectRulesReview', { namespace: '$(ns)' }), {
      ...r.as('contract-lost'),
      shows: ['status.evaluationError'],
    }),
  ),
  each(
    'impersonation: of an account that it may',
    get(SECRETS, { headers: { 'impersonate-user': `${SA}:near` }, shows: ['kind'] }),
  ),
]

/** Bindings come in no order that means something. */
function sortedRules(body: unknown): unknown {
  const { status } = body as { status: { resourceRules: object[]; nonResourceRules: object[]; incomplete: boolean } }
  const sorted = (rules: readonly object[]) =>
    rules.map((rule) => JSON.stringify(rule, Object.keys(rule).toSorted())).toSorted()
  return {
    incomplete: status.incomplete,
    resources: sorted(status.resourceRules),
    paths: sorted(status.nonResourceRules),
  }
}

const quiet = { shows: 'code' } as const

/** All roles and bindings of the table, before anything is asked. */
const setup: readonly ContractStep[] = [
  ...Object.entries(ofNamespace).flatMap(([name, { rule }]) => [
    post(r.ROLES, r.role(name, [rule]), quiet),
    post(r.BINDINGS, r.binding(name, r.toRole(name), r.user(`contract-${name}`)), quiet),
  ]),
  ...Object.entries(urls).flatMap(([name, { rule }]) => [
    post(r.CLUSTER_ROLES, r.clusterRole(`contract-url-${name}`, [rule]), quiet),
    post(
      r.CLUSTER_BINDINGS,
      r.clusterBinding(`contract-url-${name}`, r.toClusterRole(`contract-url-${name}`), r.user(`contract-url-${name}`)),
      quiet,
    ),
  ]),
  post(r.ROLES, r.role('secrets', [READ_SECRETS]), quiet),
  post(
    r.BINDINGS,
    r.binding(
      'secrets',
      r.toRole('secrets'),
      r.user('contract-secrets'),
      r.group('contract-keepers'),
      r.account('near'),
      r.account('far', 'kube-system'),
    ),
    quiet,
  ),
  post(
    r.ROLES,
    r.role('leases', [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] }]),
    quiet,
  ),
  post(r.BINDINGS, r.binding('leases', r.toRole('leases'), r.user('contract-leases')), quiet),
  post(
    r.CLUSTER_ROLES,
    r.clusterRole('contract-nodes', [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      { nonResourceURLs: ['/x'], verbs: ['get'] },
    ]),
    quiet,
  ),
  post(r.BINDINGS, r.binding('local', r.toClusterRole('contract-nodes'), r.user('contract-local')), quiet),
  post(
    r.CLUSTER_BINDINGS,
    r.clusterBinding('contract-global', r.toClusterRole('contract-nodes'), r.user('contract-global')),
    quiet,
  ),
  post(r.BINDINGS, r.binding('lost', r.toRole('lost'), r.user('contract-lost')), quiet),
  post(
    r.CLUSTER_BINDINGS,
    r.clusterBinding('contract-lost', r.toClusterRole('contract-lost'), r.user('contract-lost-everywhere')),
    quiet,
  ),
  ...['view', 'edit', 'admin'].map((name) =>
    post(r.BINDINGS, r.binding(name, r.toClusterRole(name), r.user(`contract-${name}`)), quiet),
  ),
  // The real one learns of bindings a moment later.
  get(SECRETS, { ...r.as('contract-admin'), until: 200, ...quiet }),
  get('/api/v1/nodes/none', { ...r.as('contract-global'), until: 404, ...quiet }),
]

const teardown: readonly ContractStep[] = [
  ...Object.keys(urls).flatMap((name) => [
    remove(`${r.CLUSTER_ROLES}/contract-url-${name}`, undefined, quiet),
    remove(`${r.CLUSTER_BINDINGS}/contract-url-${name}`, undefined, quiet),
  ]),
  ...['global', 'lost'].map((name) => remove(`${r.CLUSTER_BINDINGS}/contract-${name}`, undefined, quiet)),
  remove(`${r.CLUSTER_ROLES}/contract-nodes`, undefined, quiet),
]

export const roleAccess: ContractTable = {
  name: 'role-access',
  cases: [
    each('roles and bindings', ...setup),
    ...resourceCases,
    ...pathCases,
    ...subjectCases,
    ...roleCases,
    ...requestCases,
    each('roles and bindings are removed', ...teardown),
  ],
}

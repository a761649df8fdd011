import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractCase, ContractStep, ContractTable } from '../contract-case.ts'
import * as r from './role-objects.ts'

type Fields = Readonly<Record<string, unknown>>

const quiet = { shows: 'code' } as const
const RBAC_GROUP = 'rbac.authorization.k8s.io'
const rule = (resources: string, verbs: string, more: Fields = {}): Fields => ({
  apiGroups: [''],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...more,
})
const ANYTHING = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const WRITE = ['create', 'update', 'patch', 'get', 'delete']

/** A user who may write roles and bindings, and has some rights of its own. */
const writer = r.as('contract-writer')
const RESULT = writer

/** The rules that the writer wants to give. */
const wanted: Readonly<Record<string, readonly Fields[]>> = {
  'what it has': [rule('pods', 'get')],
  'all that it has': [rule('pods', 'get list')],
  'another verb': [rule('pods', 'get delete')],
  'verbs that it has not': [rule('pods', 'watch delete create')],
  'another resource': [rule('secrets', 'get')],
  'two resources': [rule('pods secrets services', 'get')],
  'another group': [{ ...rule('pods', 'get'), apiGroups: ['apps'] }],
  'two groups': [{ ...rule('pods', 'get'), apiGroups: ['', 'apps'] }],
  'all verbs': [rule('pods', '*')],
  'all resources': [rule('*', 'get')],
  'all groups': [{ ...rule('pods', 'get'), apiGroups: ['*'] }],
  everything: ANYTHING,
  'one object of what it has': [rule('pods', 'get', { resourceNames: ['a'] })],
  'one object of what it has not': [rule('secrets', 'get list', { resourceNames: ['a', 'b'] })],
  'an object that it has': [rule('configmaps', 'get', { resourceNames: ['own'] })],
  'other objects of a kind': [rule('configmaps', 'get', { resourceNames: ['own', 'other'] })],
  'all objects of a kind': [rule('configmaps', 'get')],
  'a subresource of what it has': [rule('pods/log', 'get')],
  'a subresource by its star': [rule('services/scale', 'update')],
  'that subresource of all': [rule('*/scale', 'update')],
  'another subresource of all': [rule('*/status', 'update')],
  'several rules, of which one is too much': [rule('pods', 'get'), rule('nodes', 'get list'), rule('pods', 'list')],
  'the same twice': [rule('nodes', 'get'), rule('nodes', 'get')],
  nothing: [],
}

const paths: Readonly<Record<string, readonly Fields[]>> = {
  'a path that it has': [{ nonResourceURLs: ['/own'], verbs: ['get'] }],
  'a path below one that it has': [{ nonResourceURLs: ['/tree/a'], verbs: ['get'] }],
  'all paths below': [{ nonResourceURLs: ['/tree/*'], verbs: ['get'] }],
  'a path that it has not': [{ nonResourceURLs: ['/other', '/own'], verbs: ['get', 'post'] }],
  'all paths': [{ nonResourceURLs: ['*'], verbs: ['*'] }],
}

const roleCases: readonly ContractCase[] = Object.entries(wanted).flatMap(([name, rules], index) => [
  each(`a role with ${name}`, post(r.ROLES, r.role(`role-${index}`, rules), RESULT)),
  each(
    `a cluster role with ${name}`,
    post(r.CLUSTER_ROLES, r.clusterRole(`contract-e-${index}`, rules), RESULT),
    remove(`${r.CLUSTER_ROLES}/contract-e-${index}`, undefined, quiet),
  ),
])

const pathCases: readonly ContractCase[] = Object.entries(paths).map(([name, rules], index) =>
  each(
    `a cluster role with ${name}`,
    post(r.CLUSTER_ROLES, r.clusterRole(`contract-p-${index}`, rules), RESULT),
    remove(`${r.CLUSTER_ROLES}/contract-p-${index}`, undefined, quiet),
  ),
)

const bind = (name: string, to: unknown) =>
  post(r.BINDINGS, r.binding(name, to, r.user('contract-friend')), { ...writer, shows: ['metadata.name', 'roleRef'] })
const bindEverywhere = (name: string, to: unknown) =>
  post(r.CLUSTER_BINDINGS, r.clusterBinding(`contract-${name}`, to, r.user('contract-friend')), {
    ...writer,
    shows: ['metadata.name', 'roleRef'],
  })
const gone = (name: string) => remove(`${r.CLUSTER_BINDINGS}/contract-${name}`, undefined, quiet)
const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }

const otherCases: readonly ContractCase[] = [
  each('a role that grows too much', patch('merge', `${r.ROLES}/mine`, { rules: [rule('secrets', 'list')] }, writer)),
  each(
    'a role that is replaced by too much',
    put(`${r.ROLES}/mine`, r.role('mine', [rule('secrets', 'list')]), writer),
  ),
  each(
    'a role that grows by what it has',
    patch('merge', `${r.ROLES}/mine`, { rules: [rule('pods', 'list')] }, RESULT),
  ),
  each(
    'a label on a role with too much',
    patch('merge', `${r.ROLES}/others`, { metadata: { labels: { a: 'b' } } }, writer),
  ),
  each(
    'a finalizer on a role with too much',
    patch(
      'merge',
      `${r.ROLES}/others`,
      { metadata: { finalizers: ['example.com/x'] } },
      { ...writer, shows: ['metadata.finalizers'] },
    ),
  ),
  each(
    'a finalizer taken from a role with too much',
    patch(
      'merge',
      `${r.ROLES}/others`,
      { metadata: { finalizers: null } },
      { ...writer, shows: ['metadata.finalizers'] },
    ),
  ),
  each(
    'a role with too much is deleted',
    remove(`${r.ROLES}/others`, undefined, { ...writer, shows: ['kind', 'status'] }),
  ),
  each('a binding of what it has', bind('fine', r.toRole('mine'))),
  each('a binding of a cluster role that it has', bind('fine-2', r.toClusterRole('contract-small'))),
  each('a binding of what it has not', bind('much', r.toRole('secrets'))),
  each('a binding of cluster-admin', bind('admin', r.toClusterRole('cluster-admin'))),
  each(
    'a binding of cluster-admin everywhere',
    bindEverywhere('e-admin', r.toClusterRole('cluster-admin')),
    gone('e-admin'),
  ),
  each('a binding of view', bind('view', r.toClusterRole('system:public-info-viewer'))),
  each(
    'a binding everywhere of what it has everywhere',
    bindEverywhere('e-small', r.toClusterRole('contract-small')),
    gone('e-small'),
  ),
  each(
    'a binding everywhere of what it has not',
    bindEverywhere('e-secrets', r.toClusterRole('contract-secrets')),
    gone('e-secrets'),
  ),
  each('a binding of a role that is not there', bind('none', r.toRole('none'))),
  each('a binding of a cluster role that is not there', bind('none', r.toClusterRole('contract-none'))),
  each('a binding of a role that it may bind', bind('bindable', r.toClusterRole('contract-bindable'))),
  each(
    'a binding everywhere of a role that it may bind here',
    bindEverywhere('e-bindable', r.toClusterRole('contract-bindable')),
    gone('e-bindable'),
  ),
  each(
    'a binding with more subjects, of what it has not',
    patch('merge', `${r.BINDINGS}/foreign`, { subjects: [r.user('contract-writer')] }, writer),
  ),
  each(
    'a binding to itself',
    post(r.BINDINGS, r.binding('self', r.toClusterRole('cluster-admin'), r.user('contract-writer')), writer),
  ),
  each(
    'a finalizer on a binding of what it has not',
    patch(
      'merge',
      `${r.BINDINGS}/foreign`,
      { metadata: { finalizers: null, labels: null } },
      { ...writer, shows: ['metadata.name'] },
    ),
  ),
  each(
    'aggregation by one who may not do everything',
    post(r.CLUSTER_ROLES, r.clusterRole('contract-agg', [], { aggregationRule }), writer),
  ),
  each(
    'aggregation that is taken away',
    patch('merge', `${r.CLUSTER_ROLES}/contract-aggregated`, { aggregationRule: null }, writer),
  ),
  each('a dry run is refused too', post(`${r.ROLES}?dryRun=All`, r.role('dry', ANYTHING), writer)),
  each(
    'one who may escalate makes a role',
    post(r.ROLES, r.role('escalated', ANYTHING), { ...r.as('contract-escalator'), shows: ['metadata.name'] }),
  ),
  each(
    'one who may escalate changes a role',
    patch(
      'merge',
      `${r.ROLES}/escalated`,
      { rules: [rule('nodes', '*')] },
      { ...r.as('contract-escalator'), shows: ['rules'] },
    ),
  ),
  each(
    'one who may escalate binds it',
    post(r.BINDINGS, r.binding('escalated', r.toRole('escalated'), r.user('x')), r.as('contract-escalator')),
  ),
  each('one who may escalate one role makes another', post(r.ROLES, r.role('other', ANYTHING), r.as('contract-one'))),
  each(
    'one who may escalate one role changes it',
    patch('merge', `${r.ROLES}/one`, { rules: [rule('nodes', 'get')] }, { ...r.as('contract-one'), shows: ['rules'] }),
  ),
  each('edit makes no roles', post(r.ROLES, r.role('edited', [rule('pods', 'get')]), r.as('contract-editor'))),
  each(
    'admin makes roles of what it has',
    post(r.ROLES, r.role('administered', [rule('pods', 'get')]), {
      ...r.as('contract-administrator'),
      shows: ['rules'],
    }),
  ),
  each(
    'admin makes no roles of what it has not',
    post(r.ROLES, r.role('administered-2', [rule('nodes', 'get')]), r.as('contract-administrator')),
  ),
  each(
    'admin binds view',
    post(r.BINDINGS, r.binding('by-admin', r.toClusterRole('view'), r.user('x')), {
      ...r.as('contract-administrator'),
      shows: ['roleRef'],
    }),
  ),
  each(
    'admin binds no cluster-admin',
    post(
      r.BINDINGS,
      r.binding('by-admin-2', r.toClusterRole('cluster-admin'), r.user('x')),
      r.as('contract-administrator'),
    ),
  ),
  each(
    'an administrator of all makes what it wants',
    post(r.ROLES, r.role('all', ANYTHING), {
      headers: { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' },
      shows: ['rules'],
    }),
  ),
  each(
    'groups are named in the refusal',
    post(r.ROLES, r.role('by-group', ANYTHING), {
      headers: { 'impersonate-user': 'y', 'impersonate-group': 'contract-group' },
    }),
  ),
]

const setup: readonly ContractStep[] = [
  post(
    r.CLUSTER_ROLES,
    r.clusterRole('contract-writer', [
      {
        apiGroups: [RBAC_GROUP],
        resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
        verbs: WRITE,
      },
      rule('pods', 'get list'),
      rule('configmaps', 'get', { resourceNames: ['own'] }),
      rule('*/scale', 'update'),
      { nonResourceURLs: ['/own', '/tree/*'], verbs: ['get'] },
    ]),
    quiet,
  ),
  post(
    r.CLUSTER_BINDINGS,
    r.clusterBinding(
      'contract-writer',
      r.toClusterRole('contract-writer'),
      r.user('contract-writer'),
      r.group('contract-group'),
    ),
    quiet,
  ),
  post(r.CLUSTER_ROLES, r.clusterRole('contract-small', [rule('pods', 'get')]), quiet),
  post(r.CLUSTER_ROLES, r.clusterRole('contract-secrets', [rule('secrets', 'get')]), quiet),
  post(r.CLUSTER_ROLES, r.clusterRole('contract-bindable', ANYTHING), quiet),
  post(r.CLUSTER_ROLES, r.clusterRole('contract-aggregated', [], { aggregationRule }), quiet),
  post(r.ROLES, r.role('mine', [rule('pods', 'get')]), quiet),
  post(r.ROLES, r.role('one', [rule('pods', 'get')]), quiet),
  post(r.ROLES, r.role('others', [rule('secrets', 'get')]), quiet),
  post(r.ROLES, r.role('secrets', [rule('secrets', 'get')]), quiet),
  post(r.BINDINGS, r.binding('foreign', r.toRole('secrets'), r.user('x')), quiet),
  post(
    r.ROLES,
    r.role('binder', [
      { apiGroups: [RBAC_GROUP], resources: ['clusterroles'], resourceNames: ['contract-bindable'], verbs: ['bind'] },
    ]),
    quiet,
  ),
  post(r.BINDINGS, r.binding('binder', r.toRole('binder'), r.user('contract-writer')), quiet),
  post(
    r.ROLES,
    r.role('escalator', [
      { apiGroups: [RBAC_GROUP], resources: ['roles', 'rolebindings'], verbs: [...WRITE, 'escalate'] },
    ]),
    quiet,
  ),
  post(r.BINDINGS, r.binding('escalator', r.toRole('escalator'), r.user('contract-escalator')), quiet),
  post(
    r.ROLES,
    r.role('one-escalator', [
      { apiGroups: [RBAC_GROUP], resources: ['roles'], verbs: WRITE },
      { apiGroups: [RBAC_GROUP], resources: ['roles'], resourceNames: ['one'], verbs: ['escalate'] },
    ]),
    quiet,
  ),
  post(r.BINDINGS, r.binding('one-escalator', r.toRole('one-escalator'), r.user('contract-one')), quiet),
  post(r.BINDINGS, r.binding('editor', r.toClusterRole('edit'), r.user('contract-editor')), quiet),
  post(r.BINDINGS, r.binding('administrator', r.toClusterRole('admin'), r.user('contract-administrator')), quiet),
  get(`${r.ROLES}/mine`, { ...r.as('contract-administrator'), until: 200, ...quiet }),
  get(`${r.ROLES}/mine`, { ...writer, until: 200, ...quiet }),
]

const teardown: readonly ContractStep[] = [
  ...['writer', 'small', 'secrets', 'bindable', 'aggregated'].map((name) =>
    remove(`${r.CLUSTER_ROLES}/contract-${name}`, undefined, quiet),
  ),
  remove(`${r.CLUSTER_BINDINGS}/contract-writer`, undefined, quiet),
]

export const escalation: ContractTable = {
  name: 'role-escalation',
  cases: [
    each('roles and bindings', ...setup),
    ...roleCases,
    ...pathCases,
    ...otherCases,
    each('roles and bindings are removed', ...teardown),
  ],
}

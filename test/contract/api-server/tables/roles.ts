import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import * as r from './role-objects.ts'

const RULE = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const PATHS = { nonResourceURLs: ['/healthz'], verbs: ['get'] }
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const CELLS = { headers: TABLE, shows: ['columnDefinitions.*.name', 'columnDefinitions.*.priority', 'rows.*.cells'] }

/** What rules may be, in a Role and in a ClusterRole. */
const rules: Readonly<Record<string, unknown>> = {
  'one of a resource': [RULE],
  none: [],
  null: null,
  'no verbs': [{ apiGroups: [''], resources: ['pods'] }],
  'an empty list of verbs': [{ ...RULE, verbs: [] }],
  'no group': [{ resources: ['pods'], verbs: ['get'] }],
  'no resource': [{ apiGroups: [''], verbs: ['get'] }],
  'nothing at all': [{}],
  'a path': [PATHS],
  'a path without verbs': [{ nonResourceURLs: ['/x'] }],
  'a path and a resource': [{ ...RULE, ...PATHS }],
  'a path and a name': [{ ...PATHS, resourceNames: ['a'] }],
  'a path and a group': [{ ...PATHS, apiGroups: [''] }],
  stars: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  names: [{ ...RULE, resourceNames: ['a', 'b'] }],
  'a subresource': [{ ...RULE, resources: ['pods/log', '*/scale'] }],
  'two, of which the second is wrong': [RULE, { resources: ['pods'], verbs: ['get'] }],
  'verbs that are a text': [{ ...RULE, verbs: 'get' }],
  'an unknown field': [{ ...RULE, effect: 'Deny' }],
}

const ruleCases: readonly ContractCase[] = Object.entries(rules).flatMap(([name, value], index) => [
  each(`rules of a role: ${name}`, post(r.ROLES, r.role(`rules-${index}`, value))),
  each(
    `rules of a cluster role: ${name}`,
    post(r.CLUSTER_ROLES, r.clusterRole(`contract-rules-${index}`, value)),
    remove(`${r.CLUSTER_ROLES}/contract-rules-${index}`, undefined, { shows: 'code' }),
  ),
])

const subjects: Readonly<Record<string, unknown>> = {
  'a user': r.user('jane'),
  'a user without a group of the API': { kind: 'User', name: 'jane' },
  'a user of a wrong group of the API': { kind: 'User', name: 'jane', apiGroup: 'example.com' },
  'a user without a name': { kind: 'User' },
  'a group': r.group('devs'),
  'a group without a group of the API': { kind: 'Group', name: 'devs' },
  'a service account': r.account('robot', 'default'),
  'a service account without a namespace': r.account('robot'),
  'a service account with a group of the API': {
    ...r.account('robot', 'default'),
    apiGroup: 'rbac.authorization.k8s.io',
  },
  'a service account with a bad name': r.account('No Name', 'default'),
  'another kind': { kind: 'Machine', name: 'x' },
  'no kind': { name: 'x' },
}

const subjectCases: readonly ContractCase[] = Object.entries(subjects).flatMap(([name, subject], index) => [
  each(`a binding to ${name}`, post(r.BINDINGS, r.binding(`subject-${index}`, r.toRole('x'), subject))),
  each(
    `a binding of the cluster to ${name}`,
    post(r.CLUSTER_BINDINGS, r.clusterBinding(`contract-subject-${index}`, r.toClusterRole('x'), subject)),
    remove(`${r.CLUSTER_BINDINGS}/contract-subject-${index}`, undefined, { shows: 'code' }),
  ),
])

const references: Readonly<Record<string, unknown>> = {
  'a role': r.toRole('x'),
  'a cluster role': r.toClusterRole('x'),
  'no group': { kind: 'ClusterRole', name: 'x' },
  'a wrong group': { apiGroup: 'example.com', kind: 'ClusterRole', name: 'x' },
  'a wrong kind': { apiGroup: 'rbac.authorization.k8s.io', kind: 'Pod', name: 'x' },
  'no name': { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' },
  'a name with a slash': r.toClusterRole('a/b'),
  nothing: {},
}

const referenceCases: readonly ContractCase[] = Object.entries(references).flatMap(([name, reference], index) => [
  each(`a binding of ${name}`, post(r.BINDINGS, r.binding(`reference-${index}`, reference, r.user('jane')))),
  each(
    `a binding of the cluster of ${name}`,
    post(r.CLUSTER_BINDINGS, r.clusterBinding(`contract-reference-${index}`, reference, r.user('jane'))),
    remove(`${r.CLUSTER_BINDINGS}/contract-reference-${index}`, undefined, { shows: 'code' }),
  ),
])

const aggregation: Readonly<Record<string, unknown>> = {
  'without selectors': {},
  'with a bad label': { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] },
  'with an unknown operator': { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'Like' }] }] },
}

export const roles: ContractTable = {
  name: 'roles',
  cases: [
    ...ruleCases,
    ...subjectCases,
    ...referenceCases,
    ...Object.entries(aggregation).map(([name, aggregationRule]) =>
      each(
        `aggregation ${name}`,
        post(r.CLUSTER_ROLES, r.clusterRole('contract-aggregation', [], { aggregationRule })),
        remove(`${r.CLUSTER_ROLES}/contract-aggregation`, undefined, { shows: 'code' }),
      ),
    ),
    each('a name with colons', post(r.ROLES, r.role('system:odd:Name', [RULE]))),
    each('a name with a slash', post(r.ROLES, r.role('a/b', [RULE]))),
    each('a name with a percent sign', post(r.ROLES, r.role('a%b', [RULE]))),
    each('a name that is made up', post(r.ROLES, { ...r.role('', [RULE]), metadata: { generateName: 'gen-' } })),
    each(
      'a role: made, made again, read, changed, deleted',
      post(r.ROLES, r.role('life', [RULE])),
      post(r.ROLES, r.role('life', [RULE])),
      get(`${r.ROLES}/life`),
      patch('json', `${r.ROLES}/life`, [{ op: 'add', path: '/rules/-', value: RULE }]),
      patch('merge', `${r.ROLES}/life`, { rules: [] }),
      patch('strategic', `${r.ROLES}/life`, { rules: [RULE] }),
      put(`${r.ROLES}/life`, r.role('life', [{ ...RULE, verbs: ['list'] }])),
      remove(`${r.ROLES}/life`),
      get(`${r.ROLES}/life`),
    ),
    each('a replacement that makes a role', put(`${r.ROLES}/put`, r.role('put', [RULE]))),
    each(
      'a replacement that makes a binding',
      put(`${r.BINDINGS}/put`, r.binding('put', r.toRole('put'), r.user('jane'))),
    ),
    each(
      'a binding of another role',
      put(`${r.BINDINGS}/put`, r.binding('put', r.toRole('other'), r.user('jane'))),
      patch('merge', `${r.BINDINGS}/put`, { roleRef: { kind: 'ClusterRole' } }),
    ),
    each(
      'a binding to others',
      patch('merge', `${r.BINDINGS}/put`, { subjects: [r.group('devs')] }),
      patch('strategic', `${r.BINDINGS}/put`, { subjects: [r.account('robot')] }),
      patch('merge', `${r.BINDINGS}/put`, { subjects: null }),
    ),
    each(
      'a binding of the cluster to another role',
      post(r.CLUSTER_BINDINGS, r.clusterBinding('contract-ref', r.toClusterRole('a'), r.user('x')), { shows: 'code' }),
      patch('merge', `${r.CLUSTER_BINDINGS}/contract-ref`, { roleRef: { name: 'b' } }),
      remove(`${r.CLUSTER_BINDINGS}/contract-ref`),
    ),
    each(
      'printed: roles',
      post(r.ROLES, r.role('printed', [RULE]), { shows: 'code' }),
      get(`${r.ROLES}?fieldSelector=metadata.name=printed`, {
        headers: TABLE,
        shows: ['columnDefinitions.*.name', 'columnDefinitions.*.type'],
      }),
    ),
    each(
      'printed: bindings',
      post(
        r.BINDINGS,
        r.binding(
          'printed',
          r.toRole('a'),
          r.user('u'),
          r.user('v'),
          r.group('g'),
          r.account('s'),
          r.account('t', 'other'),
        ),
        { shows: 'code' },
      ),
      get(`${r.BINDINGS}?fieldSelector=metadata.name=printed`, CELLS),
    ),
    each(
      'printed: bindings of the cluster',
      post(r.CLUSTER_BINDINGS, r.clusterBinding('contract-printed', r.toClusterRole('a'), r.account('t', 'other')), {
        shows: 'code',
      }),
      get(`${r.CLUSTER_BINDINGS}?fieldSelector=metadata.name=contract-printed`, CELLS),
      remove(`${r.CLUSTER_BINDINGS}/contract-printed`, undefined, { shows: 'code' }),
    ),
    each(
      'all roles of the namespace at once',
      remove(r.ROLES, undefined, { shows: ['kind'] }),
      get(r.ROLES, { shows: ['items'] }),
    ),
    each(
      'what the group has',
      get(r.RBAC, {
        shows: ['resources.*.name', 'resources.*.verbs', 'resources.*.namespaced', 'resources.*.singularName'],
      }),
    ),
  ],
}

const DEFAULTS = [
  'cluster-admin',
  'system:aggregate-to-admin',
  'system:aggregate-to-edit',
  'system:aggregate-to-view',
  'system:auth-delegator',
  'system:basic-user',
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
  'system:certificates.k8s.io:kube-apiserver-client-approver',
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver',
  'system:certificates.k8s.io:kubelet-serving-approver',
  'system:discovery',
  'system:kubelet-api-admin',
  'system:monitoring',
  'system:node-bootstrapper',
  'system:node-proxier',
  'system:persistent-volume-provisioner',
  'system:public-info-viewer',
  'admin',
  'edit',
  'view',
]
const MARKS = ['metadata.labels', 'metadata.annotations', 'rules', 'aggregationRule', 'roleRef', 'subjects']

const label = { labels: { 'contract.example.com/part': 'yes' } }
const gathered = { clusterRoleSelectors: [{ matchLabels: label.labels }] }
const AGGREGATE = `${r.CLUSTER_ROLES}/contract-whole`
/** No rules are null to the real one. */
const rulesOf = (body: unknown) => ({ rules: (body as { readonly rules: unknown }).rules })

/** Asked again until a path answers: what the controller of the real one does takes a moment. */
const whole = (until: number) =>
  get('/api/v1/namespaces/$(ns)/pods', { ...r.as('contract-whole'), until, shows: 'code' })

export const defaultRoles: ContractTable = {
  name: 'default-roles',
  cases: [
    ...DEFAULTS.map((name) => each(`the role ${name}`, get(`${r.CLUSTER_ROLES}/${name}`, { shows: MARKS }))),
    ...[
      'cluster-admin',
      'system:basic-user',
      'system:discovery',
      'system:monitoring',
      'system:node-proxier',
      'system:public-info-viewer',
    ].map((name) => each(`the binding ${name}`, get(`${r.CLUSTER_BINDINGS}/${name}`, { shows: MARKS }))),
    each(
      'a role gathers the rules of others',
      post(r.CLUSTER_ROLES, r.clusterRole('contract-whole', [], { aggregationRule: gathered }), {
        shows: ['aggregationRule'],
      }),
      post(
        r.CLUSTER_BINDINGS,
        r.clusterBinding('contract-whole', r.toClusterRole('contract-whole'), r.user('contract-whole')),
        { shows: 'code' },
      ),
      whole(403),
      post(r.CLUSTER_ROLES, r.clusterRole('contract-part-b', [{ ...RULE, verbs: ['list'] }], {}, label), {
        shows: 'code',
      }),
      whole(200),
      get(AGGREGATE, { shows: rulesOf }),
    ),
    each(
      'a second part comes by the order of names',
      post(
        r.CLUSTER_ROLES,
        r.clusterRole(
          'contract-part-a',
          [
            { ...RULE, verbs: ['watch'] },
            { ...RULE, verbs: ['list'] },
          ],
          {},
          label,
        ),
        { shows: 'code' },
      ),
      get('/api/v1/namespaces/$(ns)/pods?watch=true&timeoutSeconds=1', {
        ...r.as('contract-whole'),
        until: 200,
        shows: 'code',
      }),
      get(AGGREGATE, { shows: rulesOf }),
    ),
    each(
      'a part that changes',
      patch(
        'merge',
        `${r.CLUSTER_ROLES}/contract-part-a`,
        { rules: [{ ...RULE, resources: ['secrets'], verbs: ['list'] }] },
        { shows: 'code' },
      ),
      get('/api/v1/namespaces/$(ns)/secrets', { ...r.as('contract-whole'), until: 200, shows: 'code' }),
      get(AGGREGATE, { shows: rulesOf }),
    ),
    each(
      'a part that is no part any more',
      patch('merge', `${r.CLUSTER_ROLES}/contract-part-a`, { metadata: { labels: null } }, { shows: 'code' }),
      get('/api/v1/namespaces/$(ns)/secrets', { ...r.as('contract-whole'), until: 403, shows: 'code' }),
      get(AGGREGATE, { shows: rulesOf }),
    ),
    each(
      'the last part is deleted',
      remove(`${r.CLUSTER_ROLES}/contract-part-b`, undefined, { shows: 'code' }),
      whole(403),
      get(AGGREGATE, { shows: rulesOf }),
      remove(`${r.CLUSTER_ROLES}/contract-part-a`, undefined, { shows: 'code' }),
      remove(AGGREGATE, undefined, { shows: 'code' }),
      remove(`${r.CLUSTER_BINDINGS}/contract-whole`, undefined, { shows: 'code' }),
    ),
  ],
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { allResources } from '../kinds/all-resources.ts'
import { authorize } from './authorize.ts'
import type { RequestAttributes } from './request-attributes.ts'

const objects = createFakeObjects({
  nodes: [{ metadata: { name: 'node-1' } }, { metadata: { name: 'node-2' } }],
  pods: [
    {
      metadata: { name: 'own', namespace: 'shop' },
      spec: {
        nodeName: 'node-1',
        serviceAccountName: 'own',
        containers: [],
        volumes: [
          { name: 'a', secret: { secretName: 'own' } },
          { name: 'b', configMap: { name: 'own' } },
          { name: 'c', persistentVolumeClaim: { claimName: 'own' } },
        ],
        resourceClaims: [{ name: 'a', resourceClaimName: 'own' }],
      },
      status: {
        resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'made' }],
        extendedResourceClaimStatus: { resourceClaimName: 'extended', requestMappings: [] },
      },
    },
    {
      metadata: { name: 'foreign', namespace: 'shop' },
      spec: {
        nodeName: 'node-2',
        serviceAccountName: 'foreign',
        containers: [],
        volumes: [
          { name: 'a', secret: { secretName: 'foreign' } },
          { name: 'b', configMap: { name: 'foreign' } },
          { name: 'c', persistentVolumeClaim: { claimName: 'foreign' } },
        ],
        resourceClaims: [{ name: 'a', resourceClaimName: 'foreign' }],
      },
    },
    // Not bound yet: of no node.
    {
      metadata: { name: 'new', namespace: 'shop' },
      spec: { containers: [], volumes: [{ name: 'a', secret: { secretName: 'new' } }] },
    },
  ],
  persistentvolumeclaims: [
    { metadata: { name: 'own', namespace: 'shop' }, spec: { volumeName: 'own' } },
    { metadata: { name: 'foreign', namespace: 'shop' }, spec: { volumeName: 'foreign' } },
  ],
  persistentvolumes: [
    {
      metadata: { name: 'own' },
      spec: {
        claimRef: { namespace: 'shop', name: 'own' },
        csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { name: 'staging', namespace: 'storage' } },
      },
    },
    { metadata: { name: 'foreign' }, spec: { claimRef: { namespace: 'shop', name: 'foreign' } } },
    // Names a claim that names another volume.
    {
      metadata: { name: 'thief' },
      spec: {
        claimRef: { namespace: 'shop', name: 'own' },
        csi: { nodeStageSecretRef: { name: 'stolen', namespace: 'shop' } },
      },
    },
  ],
  'volumeattachments.storage.k8s.io': [
    { metadata: { name: 'own' }, spec: { nodeName: 'node-1' } },
    { metadata: { name: 'foreign' }, spec: { nodeName: 'node-2' } },
  ],
  'resourceslices.resource.k8s.io': [
    { metadata: { name: 'own' }, spec: { nodeName: 'node-1' } },
    { metadata: { name: 'foreign' }, spec: { nodeName: 'node-2' } },
  ],
  'certificatesigningrequests.certificates.k8s.io': [
    { metadata: { name: 'own' }, spec: { username: 'system:node:node-1' } },
    { metadata: { name: 'own-bootstrap' }, spec: { username: 'system:bootstrap:abcdef' } },
    { metadata: { name: 'foreign' }, spec: { username: 'system:node:node-2' } },
  ],
})

const callers = {
  anonymous: { name: 'system:anonymous', groups: ['system:unauthenticated'] },
  admin: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
  user: { name: 'jane', groups: ['dev', 'system:authenticated'] },
  account: {
    name: 'system:serviceaccount:shop:own',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
  },
  reader: { name: 'jane', groups: ['deckhand:readers', 'system:authenticated'] },
  node: { name: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] },
  bootstrap: { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] },
  'a user of the name of a node': { name: 'system:node:node-1', groups: ['system:authenticated'] },
  'a user in the group of nodes': { name: 'node-1', groups: ['system:nodes', 'system:authenticated'] },
  'a node without a name': { name: 'system:node:', groups: ['system:nodes', 'system:authenticated'] },
} as const

const VERBS = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'impersonate',
  'bind',
  '*',
  '',
]
// What a resource of the API has, and what others have that we do not.
// A resource in two versions is one here.
const RESOURCES = [...new Map(listResources().map((resource) => [String(resource), resource])).values()]

function listResources(): readonly (readonly [group: string, resource: string, subresource: string])[] {
  return [
    ...allResources.flatMap(({ group, plural, subresources }) => [
      [group, plural, ''] as const,
      ...subresources.map(({ name }) => [group, plural, name] as const),
    ]),
    ...['log', 'stats', 'metrics', 'configz'].map((name) => ['', 'nodes', name] as const),
    ['networking.k8s.io', 'servicecidrs', ''],
    ['example.com', 'pods', ''],
    ['', '*', ''],
    ['*', '*', '*'],
  ]
}

const nothing = { path: '', fields: {} }

function ask(change: Omit<Partial<RequestAttributes>, 'user'> & Pick<RequestAttributes, 'user'>) {
  const attributes = {
    ...nothing,
    isResource: true,
    verb: 'get',
    group: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
  }
  return authorize({ ...attributes, ...change }, objects).allowed
}

/** Everything that a caller may do to objects of a name, as sorted lines: the resource, then its verbs. */
function allowedTo(user: RequestAttributes['user'], namespace: string, name: string): readonly string[] {
  return RESOURCES.flatMap(([group, resource, subresource]) => {
    const verbs = VERBS.filter((verb) => ask({ user, verb, group, resource, subresource, namespace, name }))
    const text = [resource, group].filter(Boolean).join('.') + (subresource === '' ? '' : `/${subresource}`)
    return verbs.length === 0 ? [] : [`${text}: ${verbs.join(' ')}`]
  }).toSorted()
}

const SELF = [
  'selfsubjectaccessreviews.authorization.k8s.io: create',
  'selfsubjectreviews.authentication.k8s.io: create',
  'selfsubjectrulesreviews.authorization.k8s.io: create',
]
const EVERY_NODE = [
  ...SELF,
  'certificatesigningrequests.certificates.k8s.io: create',
  'clustertrustbundles.certificates.k8s.io: get list watch',
  'csidrivers.storage.k8s.io: get list watch',
  'csinodes.storage.k8s.io: create',
  'endpoints: get',
  'events.events.k8s.io: create update patch',
  'events: create update patch',
  'localsubjectaccessreviews.authorization.k8s.io: create',
  'nodes: create',
  'pods: create',
  'resourceslices.resource.k8s.io: create',
  'runtimeclasses.node.k8s.io: get list watch',
  'services: get list watch',
  'subjectaccessreviews.authorization.k8s.io: create',
  'tokenreviews.authentication.k8s.io: create',
]
const READABLE = [
  ...SELF,
  ...[
    'certificatesigningrequests.certificates.k8s.io',
    'clustertrustbundles.certificates.k8s.io',
    'configmaps',
    'controllerrevisions.apps',
    'horizontalpodautoscalers.autoscaling',
    'horizontalpodautoscalers.autoscaling/status',
    'cronjobs.batch',
    'cronjobs.batch/status',
    'csidrivers.storage.k8s.io',
    'csinodes.storage.k8s.io',
    'daemonsets.apps',
    'daemonsets.apps/status',
    'deployments.apps',
    'deployments.apps/scale',
    'deployments.apps/status',
    'deviceclasses.resource.k8s.io',
    'endpoints',
    'endpointslices.discovery.k8s.io',
    'events',
    'events.events.k8s.io',
    'ingressclasses.networking.k8s.io',
    'ingresses.networking.k8s.io',
    'ingresses.networking.k8s.io/status',
    'jobs.batch',
    'jobs.batch/status',
    'leases.coordination.k8s.io',
    'namespaces',
    'namespaces/status',
    'networkpolicies.networking.k8s.io',
    'nodes',
    'nodes/metrics',
    'nodes/stats',
    'nodes/status',
    'persistentvolumeclaims',
    'persistentvolumeclaims/status',
    'persistentvolumes',
    'persistentvolumes/status',
    'poddisruptionbudgets.policy',
    'poddisruptionbudgets.policy/status',
    'pods',
    'pods/log',
    'pods/status',
    'priorityclasses.scheduling.k8s.io',
    'replicasets.apps',
    'replicasets.apps/scale',
    'replicasets.apps/status',
    'resourceclaims.resource.k8s.io',
    'resourceclaims.resource.k8s.io/status',
    'resourceclaimtemplates.resource.k8s.io',
    'resourceslices.resource.k8s.io',
    'runtimeclasses.node.k8s.io',
    'serviceaccounts',
    'services',
    'services/status',
    'statefulsets.apps',
    'statefulsets.apps/scale',
    'statefulsets.apps/status',
    'storageclasses.storage.k8s.io',
    'volumeattachments.storage.k8s.io',
  ].map((resource) => `${resource}: get list watch`),
  'nodes.metrics.k8s.io: get list',
  'pods.metrics.k8s.io: get list',
]

/** Lines of rights together: verbs of one resource in one line. */
function join(...lists: readonly (readonly string[])[]): readonly string[] {
  const verbs = new Map<string, Set<string>>()
  for (const line of lists.flat()) {
    const [resource = '', text = ''] = line.split(': ')
    for (const verb of text.split(' ')) verbs.getOrInsertComputed(resource, () => new Set()).add(verb)
  }
  return [...verbs]
    .map(([resource, set]) => `${resource}: ${VERBS.filter((verb) => set.has(verb)).join(' ')}`)
    .toSorted()
}

type Caller = keyof typeof callers
// Who, in which namespace, with which name: all that is allowed, and nothing else is.
const rows: readonly (readonly [caller: Caller, namespace: string, name: string, allowed: readonly string[]])[] = [
  ['anonymous', 'shop', 'own', []],
  ['user', 'shop', 'own', SELF],
  ['user', '', '', SELF],
  ['account', 'shop', 'own', SELF],
  ['a user of the name of a node', '', 'node-1', SELF],
  ['a user in the group of nodes', '', 'node-1', SELF],
  ['a node without a name', '', '', SELF],
  ['reader', 'shop', 'own', READABLE],
  ['reader', '', '', READABLE],
  ['bootstrap', '', '', [...SELF, 'certificatesigningrequests.certificates.k8s.io: create']],
  ['bootstrap', '', 'own', [...SELF, 'certificatesigningrequests.certificates.k8s.io: create']],
  ['bootstrap', '', 'missing', [...SELF, 'certificatesigningrequests.certificates.k8s.io: create']],
  [
    'bootstrap',
    '',
    'own-bootstrap',
    [...SELF, 'certificatesigningrequests.certificates.k8s.io: get list watch create'],
  ],
  ['node', '', '', EVERY_NODE],
  ['node', 'shop', '', EVERY_NODE],
  ['node', 'shop', 'foreign', EVERY_NODE],
  ['node', 'shop', 'new', EVERY_NODE],
  ['node', 'shop', 'stolen', EVERY_NODE],
  ['node', '', 'foreign', EVERY_NODE],
  ['node', '', 'thief', EVERY_NODE],
  ['node', '', 'node-2', EVERY_NODE],
  ['node', 'kube-node-lease', 'node-2', [...EVERY_NODE, 'leases.coordination.k8s.io: create']],
  ['node', 'kube-node-lease', '', [...EVERY_NODE, 'leases.coordination.k8s.io: create']],
  ['node', 'storage', 'staging', [...EVERY_NODE, 'secrets: get list watch']],
  ['node', 'shop', 'made', [...EVERY_NODE, 'resourceclaims.resource.k8s.io: get']],
  ['node', 'shop', 'extended', [...EVERY_NODE, 'resourceclaims.resource.k8s.io: get']],
  [
    'node',
    'kube-node-lease',
    'node-1',
    [
      ...EVERY_NODE,
      'leases.coordination.k8s.io: get create update patch delete',
      // Those have no namespace; a path that gives them one leads nowhere.
      'nodes: get list watch update patch',
      'nodes/status: get update patch',
      'csinodes.storage.k8s.io: get update patch delete',
    ],
  ],
  [
    'node',
    '',
    'node-1',
    [
      ...EVERY_NODE,
      'nodes: get list watch update patch',
      'nodes/status: get update patch',
      'csinodes.storage.k8s.io: get update patch delete',
    ],
  ],
  [
    'node',
    '',
    'own',
    [
      ...EVERY_NODE,
      'persistentvolumes: get list watch',
      'volumeattachments.storage.k8s.io: get list watch',
      'certificatesigningrequests.certificates.k8s.io: get list watch',
      'resourceslices.resource.k8s.io: get update patch delete',
    ],
  ],
  [
    'node',
    'shop',
    'own',
    [
      ...EVERY_NODE,
      'configmaps: get list watch',
      'secrets: get list watch',
      'persistentvolumeclaims: get list watch',
      'persistentvolumeclaims/status: get update patch',
      'persistentvolumes: get list watch',
      'volumeattachments.storage.k8s.io: get list watch',
      'certificatesigningrequests.certificates.k8s.io: get list watch',
      'resourceclaims.resource.k8s.io: get',
      'resourceslices.resource.k8s.io: get update patch delete',
      'pods: get list watch delete',
      'pods/status: get update patch',
      'pods/eviction: create',
      'serviceaccounts: get',
      'serviceaccounts/token: create',
    ],
  ],
]

describe('authorize()', () => {
  for (const [caller, namespace, name, allowed] of rows) {
    test(`${caller} may do this, and nothing else, to "${name}" in "${namespace}"`, () => {
      assert.deepEqual(allowedTo(callers[caller], namespace, name), join(allowed))
    })
  }

  test('an administrator may do everything', () => {
    assert.equal(allowedTo(callers.admin, 'shop', 'own').length, RESOURCES.length)
  })

  test('a node may list the pods that are bound to it, of all namespaces', () => {
    const list = (fields: Readonly<Record<string, string>>) =>
      ['list', 'watch', 'deletecollection'].map((verb) => ask({ user: callers.node, verb, resource: 'pods', fields }))
    assert.deepEqual(list({ 'spec.nodeName': 'node-1' }), [true, true, false])
    assert.deepEqual(list({ 'spec.nodeName': 'node-2' }), [false, false, false])
    assert.deepEqual(list({ 'status.phase': 'node-1' }), [false, false, false])
  })

  test('a node may list and delete the slices of its own devices, and watch no others', () => {
    const may = (fields: Readonly<Record<string, string>>) =>
      ['list', 'watch', 'deletecollection'].map((verb) =>
        ask({ user: callers.node, verb, group: 'resource.k8s.io', resource: 'resourceslices', fields }),
      )
    assert.deepEqual(may({ 'spec.nodeName': 'node-1', 'spec.driver': 'a' }), [true, true, true])
    assert.deepEqual(may({ 'spec.nodeName': 'node-2' }), [false, false, false])
    assert.deepEqual(may({ 'spec.driver': 'a' }), [false, false, false])
  })

  const paths: readonly (readonly [caller: Caller, verb: string, path: string, allowed: boolean])[] = [
    ['user', 'get', '/version', true],
    ['user', 'get', '/api', true],
    ['user', 'get', '/apis/apps/v1', true],
    ['user', 'get', '/openapi/v3/api/v1', true],
    ['user', 'get', '/readyz', true],
    ['user', 'head', '/healthz', true],
    ['user', 'post', '/version', false],
    ['user', 'get', '/', false],
    ['user', 'get', '/metrics', false],
    ['user', 'get', '/apix', false],
    ['user', 'get', '/healthz/etcd', false],
    ['reader', 'get', '/metrics', true],
    ['reader', 'post', '/metrics', false],
    ['user', 'get', '/debug/pprof', false],
    ['anonymous', 'get', '/version', false],
    ['admin', 'get', '/metrics', true],
    ['node', 'get', '/logs', false],
  ]
  for (const [caller, verb, path, allowed] of paths) {
    test(`${caller} ${allowed ? 'may' : 'may not'} ${verb} ${path}`, () => {
      assert.equal(ask({ user: callers[caller], isResource: false, verb, path }), allowed)
    })
  }

  test('whatever is asked: only an administrator may write what decides about others', () => {
    const text = fc.oneof(fc.constantFrom('', 'own', 'node-1', 'system:nodes', '*'), fc.string())
    const users = fc.oneof(
      fc.constantFrom(...Object.values(callers).filter(({ name }) => name !== 'admin')),
      fc.record({
        name: text,
        groups: fc.array(
          fc.constantFrom('system:nodes', 'system:authenticated', 'deckhand:readers', 'system:bootstrappers'),
        ),
      }),
    )
    const writable = ['secrets', 'configmaps', 'serviceaccounts', 'namespaces', 'persistentvolumes', 'services']
    const protectedWrites = fc.constantFrom(
      ...writable.map((name) => ['', name, '']),
      ['', 'pods', 'exec'],
      ['', 'pods', 'binding'],
      ['certificates.k8s.io', 'certificatesigningrequests', 'approval'],
      ['certificates.k8s.io', 'certificatesigningrequests', 'status'],
    )
    fc.assert(
      fc.property(
        users,
        protectedWrites,
        fc.constantFrom('create', 'update', 'patch', 'delete', 'deletecollection', '*'),
        text,
        text,
        (user, what, verb, namespace, name) => {
          const [group = '', resource = '', subresource = ''] = what
          return !ask({
            user,
            verb,
            group,
            resource,
            subresource,
            namespace,
            name,
            fields: { 'metadata.name': name, 'spec.nodeName': 'node-1' },
          })
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('whatever is asked: what no rule names is denied', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(callers)),
        fc.string(),
        fc.string(),
        fc.string(),
        fc.constantFrom(...VERBS),
        (user, group, resource, name, verb) => {
          if (user.name === 'admin' || RESOURCES.some(([g, r]) => g === group && r === resource)) return true
          return !ask({ user, verb, group, resource, name, namespace: 'shop' })
        },
      ),
      { numRuns: 1000 },
    )
  })
})

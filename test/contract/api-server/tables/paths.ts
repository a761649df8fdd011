import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { CONFIG_MAPS, configMap, core, NAMESPACED, pod, PODS } from './objects.ts'

interface ResourceList {
  readonly kind: string
  readonly groupVersion: string
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

/** The entries that an API server with these resources has; others may be there besides. */
const entries = (names: readonly string[]) => (body: unknown) => {
  const { kind, groupVersion, resources } = body as ResourceList
  const found = resources.filter(({ name }) => names.includes(name.split('/')[0] ?? ''))
  const stable = found.map((resource) => ({
    ...resource,
    verbs: resource.verbs.toSorted(),
    storageVersionHash: undefined,
  }))
  return { kind, groupVersion, resources: stable.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

const groups: readonly (readonly [path: string, resources: readonly string[]])[] = [
  [
    '/api/v1',
    [
      'bindings',
      'configmaps',
      'endpoints',
      'events',
      'namespaces',
      'persistentvolumeclaims',
      'persistentvolumes',
      'secrets',
      'serviceaccounts',
      'services',
    ],
  ],
  ['/apis/coordination.k8s.io/v1', ['leases']],
  ['/apis/events.k8s.io/v1', ['events']],
  ['/apis/node.k8s.io/v1', ['runtimeclasses']],
  ['/apis/scheduling.k8s.io/v1', ['priorityclasses']],
  ['/apis/storage.k8s.io/v1', ['csidrivers', 'csinodes', 'volumeattachments']],
  ['/apis/certificates.k8s.io/v1', ['certificatesigningrequests']],
  ['/apis/authentication.k8s.io/v1', ['tokenreviews', 'selfsubjectreviews']],
  [
    '/apis/authorization.k8s.io/v1',
    ['subjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'localsubjectaccessreviews'],
  ],
  ['/apis/resource.k8s.io/v1', ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices']],
]

const inGroup = (name: string): ContractCase =>
  each(`group ${name}`, get(`/apis/${name}`, { shows: ['kind', 'apiVersion', 'name', 'preferredVersion'] }))

/** Which operations a path of an OpenAPI document has. */
const operations = (paths: readonly string[]) => (body: unknown) => {
  const all = (body as { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> }).paths
  return paths.map((path) => [path, Object.keys(all[path] ?? {}).toSorted()])
}

const kindsOf = (names: readonly string[]) => (body: unknown) => {
  type Schema = {
    readonly properties?: Readonly<Record<string, object>>
    readonly required?: readonly string[]
    readonly 'x-kubernetes-group-version-kind'?: unknown
  }
  const all = (body as { readonly definitions: Readonly<Record<string, Schema>> }).definitions
  return names.map((name) => {
    const schema = all[name]
    return {
      name,
      properties: Object.keys(schema?.properties ?? {}).toSorted(),
      required: schema?.required,
      kinds: schema?.['x-kubernetes-group-version-kind'],
    }
  })
}

export const discovery: ContractTable = {
  name: 'discovery',
  cases: [
    each('the versions of the core group', get('/api', { shows: ['kind', 'versions'] })),
    each('the groups', get('/apis', { shows: ['kind', 'apiVersion'] })),
    ...groups.map(([path, names]) => each(`what ${path} has`, get(path, { shows: entries(names) }))),
    each('what /api/v1 has of pods', get('/api/v1', { shows: entries(['pods']) })),
    each('what /api/v1 has of nodes', get('/api/v1', { shows: entries(['nodes']) })),
    ...[
      'coordination.k8s.io',
      'events.k8s.io',
      'node.k8s.io',
      'storage.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'scheduling.k8s.io',
    ].map(inGroup),
    each('a group that is not there', get('/apis/example.com')),
    each('a version of a group that is not there', get('/apis/node.k8s.io/v7')),
    each(
      'all at once',
      get('/apis', {
        headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
        shows: ['kind', 'apiVersion'],
      }),
    ),
    each(
      'the core group at once',
      get('/api', {
        headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
        shows: (body) => {
          const { kind, apiVersion, items } = body as {
            readonly kind: string
            readonly apiVersion: string
            readonly items?: readonly {
              readonly versions: readonly { readonly resources: readonly { readonly resource: string }[] }[]
            }[]
          }
          return {
            kind,
            apiVersion,
            maps: items?.[0]?.versions[0]?.resources.find(({ resource }) => resource === 'configmaps'),
          }
        },
      }),
    ),
    each('the version', get('/version', { shows: ['major', 'minor', 'gitVersion', 'platform'] })),
    each('health', get('/healthz'), get('/livez'), get('/readyz')),
    each('a path that is not there', get('/nothing')),
    each(
      'OpenAPI 2: operations',
      get('/openapi/v2', {
        shows: operations([
          '/api/v1/namespaces/{namespace}/configmaps',
          '/api/v1/namespaces/{namespace}/configmaps/{name}',
          '/api/v1/namespaces/{namespace}/pods/{name}/status',
          '/api/v1/nodes/{name}',
          '/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases',
        ]),
      }),
    ),
    each(
      'OpenAPI 2: kinds',
      get('/openapi/v2', {
        shows: kindsOf([
          'io.k8s.api.core.v1.ConfigMap',
          'io.k8s.api.core.v1.Secret',
          'io.k8s.api.core.v1.Container',
          'io.k8s.api.core.v1.Service',
          'io.k8s.api.coordination.v1.Lease',
          'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
        ]),
      }),
    ),
    each(
      'OpenAPI 3: what there is',
      get('/openapi/v3', {
        shows: (body) =>
          Object.keys((body as { readonly paths: object }).paths).filter((path) =>
            ['api/v1', 'apis/coordination.k8s.io/v1', 'apis/node.k8s.io/v1', 'apis/storage.k8s.io/v1'].includes(path),
          ),
      }),
    ),
    each(
      'OpenAPI 3: operations',
      get('/openapi/v3/api/v1', {
        shows: operations(['/api/v1/namespaces/{namespace}/configmaps', '/api/v1/namespaces/{namespace}/pods/{name}']),
      }),
    ),
  ],
}

export const namespaces: ContractTable = {
  name: 'namespaces',
  cases: [
    each(
      'begins, works and ends',
      post('/api/v1/namespaces', core('Namespace', 'contract-life')),
      get('/api/v1/namespaces/contract-life/serviceaccounts/default', { until: 200, shows: ['kind', 'metadata.name'] }),
      get('/api/v1/namespaces/contract-life/configmaps/kube-root-ca.crt', {
        until: 200,
        shows: ['kind', 'metadata.name'],
      }),
      post('/api/v1/namespaces/contract-life/configmaps', configMap('inside'), { shows: 'code' }),
      remove('/api/v1/namespaces/contract-life', undefined, { shows: ['kind', 'metadata.name'] }),
      get('/api/v1/namespaces/contract-life', { until: 404, shows: 'code' }),
    ),
    each(
      'held by an object with a finalizer',
      post('/api/v1/namespaces', core('Namespace', 'contract-held'), { shows: 'code' }),
      get('/api/v1/namespaces/contract-held/serviceaccounts/default', { until: 200, shows: 'code' }),
      post('/api/v1/namespaces/contract-held/configmaps', configMap('held', {}, { finalizers: ['example.com/hold'] }), {
        shows: 'code',
      }),
      remove('/api/v1/namespaces/contract-held', undefined, {
        shows: ['kind', 'metadata.name', 'status.phase', 'spec'],
      }),
      get('/api/v1/namespaces/contract-held', { shows: ['status.phase', 'spec'] }),
      post('/api/v1/namespaces/contract-held/configmaps', configMap('late')),
      {
        verb: 'PATCH:merge',
        path: '/api/v1/namespaces/contract-held/configmaps/held',
        body: { metadata: { finalizers: null } },
        shows: 'code',
      },
      get('/api/v1/namespaces/contract-held', { until: 404, shows: 'code' }),
    ),
    each(
      'held by a finalizer of its own',
      post('/api/v1/namespaces', core('Namespace', 'contract-own', { spec: { finalizers: ['example.com/hold'] } }), {
        shows: ['spec'],
      }),
      remove('/api/v1/namespaces/contract-own', undefined, { shows: ['kind', 'status.phase'] }),
      get('/api/v1/namespaces/contract-own', { shows: ['status.phase'] }),
      put('/api/v1/namespaces/contract-own/finalize', core('Namespace', 'contract-own', { spec: { finalizers: [] } }), {
        shows: ['kind', 'spec'],
      }),
      get('/api/v1/namespaces/contract-own', { until: 404, shows: 'code' }),
    ),
    each('twice', post('/api/v1/namespaces', core('Namespace', '$(ns)'))),
    each(
      'changed',
      patch(
        'merge',
        '/api/v1/namespaces/$(ns)',
        { metadata: { labels: { a: 'b' } } },
        { shows: ['metadata.labels', 'spec', 'status'] },
      ),
    ),
    each(
      'its name is a label',
      patch(
        'merge',
        '/api/v1/namespaces/$(ns)',
        { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
        { shows: ['metadata.labels'] },
      ),
    ),
    each(
      'finalized',
      get('/api/v1/namespaces/$(ns)', { keep: 'n', shows: ['spec', 'status', 'metadata.labels'] }),
      put(
        '/api/v1/namespaces/$(ns)/finalize',
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$(ns)' }, spec: { finalizers: ['kubernetes'] } },
        { shows: ['spec', 'status'] },
      ),
    ),
    each(
      'a finalizer that is none',
      put('/api/v1/namespaces/$(ns)/finalize', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '$(ns)' },
        spec: { finalizers: ['nodomain'] },
      }),
    ),
    each(
      'its status',
      patch(
        'merge',
        '/api/v1/namespaces/$(ns)/status',
        { status: { conditions: [{ type: 'X', status: 'True' }] } },
        { shows: ['status'] },
      ),
    ),
    each('not there', get('/api/v1/namespaces/missing')),
    each('what is made where there is none', post('/api/v1/namespaces/missing/pods', pod('a'))),
    each(
      'its default account comes back',
      remove(`${NAMESPACED}/serviceaccounts/default`, undefined, { shows: ['kind', 'status'] }),
      get(`${NAMESPACED}/serviceaccounts/default`, { until: 200, shows: ['kind'] }),
    ),
    each(
      'its authority comes back',
      remove(`${CONFIG_MAPS}/kube-root-ca.crt`, undefined, { shows: ['kind', 'status'] }),
      get(`${CONFIG_MAPS}/kube-root-ca.crt`, { until: 200, shows: ['kind'] }),
    ),
    each('a pod of an account that is not there', post(PODS, pod('a', { serviceAccountName: 'missing' }))),
  ],
}

import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import {
  CONFIG_MAPS,
  configMap,
  container,
  core,
  LEASES,
  NAMESPACED,
  of,
  pod,
  PODS,
  SECRETS,
  SERVICES,
  EVENTS,
  NODES,
} from './objects.ts'

const STRICT = '?dryRun=All&fieldValidation=Strict'
const unknownField = { ...configMap('a', { k: 'v' }), colour: 'red' }
const deepUnknown = pod('a', {
  containers: [container({ colour: 'red', ports: [{ containerPort: 1, x: 2 }] })],
  shade: 1,
})
const doubled =
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"},"immutable":false,"immutable":false}'

export const fieldValidation: ContractTable = {
  name: 'field-validation',
  cases: [
    each('an unknown field, strictly', post(`${CONFIG_MAPS}${STRICT}`, unknownField)),
    each('an unknown field, with a warning', post(`${CONFIG_MAPS}?dryRun=All&fieldValidation=Warn`, unknownField)),
    each('an unknown field, ignored', post(`${CONFIG_MAPS}?dryRun=All&fieldValidation=Ignore`, unknownField)),
    each('an unknown field, by default', post(`${CONFIG_MAPS}?dryRun=All`, unknownField)),
    each('unknown fields in depth, strictly', post(`${PODS}${STRICT}`, deepUnknown)),
    each(
      'unknown fields in depth, with warnings',
      post(`${PODS}?dryRun=All&fieldValidation=Warn`, deepUnknown, { shows: ['kind'] }),
    ),
    each('keys that come twice, strictly', post(`${CONFIG_MAPS}${STRICT}`, doubled)),
    each('keys that come twice, with warnings', post(`${CONFIG_MAPS}?dryRun=All&fieldValidation=Warn`, doubled)),
    each('keys that come twice, ignored', post(`${CONFIG_MAPS}?dryRun=All&fieldValidation=Ignore`, doubled)),
    each('a rule that is none', post(`${CONFIG_MAPS}?fieldValidation=Maybe`, configMap('a'))),
    each('fields in other cases', post(`${CONFIG_MAPS}${STRICT}`, { ...configMap('a'), Data: { k: 'v' } })),
    each(
      'a merge patch, strictly',
      post(CONFIG_MAPS, configMap('m', { a: '1' }), { shows: 'code' }),
      patch('merge', `${CONFIG_MAPS}/m?fieldValidation=Strict`, { colour: 'red' }),
    ),
    each('a merge patch, with a warning', patch('merge', `${CONFIG_MAPS}/m?fieldValidation=Warn`, { colour: 'red' })),
    each(
      'a JSON patch, strictly',
      patch('json', `${CONFIG_MAPS}/m?fieldValidation=Strict`, [{ op: 'add', path: '/colour', value: 'red' }]),
    ),
    each(
      'a strategic patch, strictly',
      patch('strategic', `${CONFIG_MAPS}/m?fieldValidation=Strict`, { colour: 'red' }),
    ),
    each(
      'a strategic patch, with a warning',
      patch('strategic', `${CONFIG_MAPS}/m?fieldValidation=Warn`, { colour: 'red' }),
    ),
    each(
      'a replacement, strictly',
      put(`${CONFIG_MAPS}/m?fieldValidation=Strict`, { ...configMap('m'), colour: 'red' }),
    ),
    each(
      'YAML, strictly',
      post(`${CONFIG_MAPS}${STRICT}`, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ncolour: red\n', {
        headers: { 'content-type': 'application/yaml' },
      }),
    ),
    each(
      'YAML',
      post(`${CONFIG_MAPS}?dryRun=All`, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n', {
        headers: { 'content-type': 'application/yaml' },
      }),
    ),
    each('a dry run that is none', post(`${CONFIG_MAPS}?dryRun=Some`, configMap('a'))),
    each(
      'a dry run leaves nothing',
      post(`${CONFIG_MAPS}?dryRun=All`, configMap('dry')),
      get(`${CONFIG_MAPS}/dry`, { shows: 'code' }),
    ),
    each('a dry run finds what is there', post(`${CONFIG_MAPS}?dryRun=All`, configMap('m'))),
    each(
      'a dry run of a replacement',
      put(`${CONFIG_MAPS}/m?dryRun=All`, configMap('m', { dry: 'run' }), { shows: ['data'] }),
      get(`${CONFIG_MAPS}/m`, { shows: ['data'] }),
    ),
    each(
      'a dry run of a patch',
      patch('merge', `${CONFIG_MAPS}/m?dryRun=All`, { data: { dry: 'run' } }, { shows: ['data'] }),
      get(`${CONFIG_MAPS}/m`, { shows: ['data'] }),
    ),
    each(
      'a dry run of a deletion',
      remove(`${CONFIG_MAPS}/m?dryRun=All`),
      get(`${CONFIG_MAPS}/m`, { shows: ['data'] }),
    ),
    each(
      'a dry run of a deletion in its body',
      remove(`${CONFIG_MAPS}/m`, { dryRun: ['All'] }),
      get(`${CONFIG_MAPS}/m`, { shows: ['data'] }),
    ),
    each('a warning about a deprecated kind', get(`${NAMESPACED}/endpoints`, { shows: ['kind'] })),
    each(
      'a warning about an old label',
      post(`${PODS}?dryRun=All`, pod('a', { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }), { shows: ['kind'] }),
    ),
    each(
      'a warning about two variables of one name',
      post(
        `${PODS}?dryRun=All`,
        pod('a', {
          containers: [
            container({
              env: [
                { name: 'A', value: '1' },
                { name: 'A', value: '2' },
              ],
            }),
          ],
        }),
        { shows: ['kind'] },
      ),
    ),
    each(
      'a warning about an old annotation',
      post(`${PODS}?dryRun=All`, pod('a', {}, { annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } }), {
        shows: ['kind'],
      }),
    ),
  ],
}

export const bodies: ContractTable = {
  name: 'bodies',
  cases: [
    each('no JSON', post(CONFIG_MAPS, 'nonsense')),
    each('JSON that ends early', post(CONFIG_MAPS, '{"apiVersion":"v1"')),
    each('an empty body', post(CONFIG_MAPS, '')),
    each('a list', post(CONFIG_MAPS, [])),
    each('null', post(CONFIG_MAPS, 'null')),
    each('no kind', post(CONFIG_MAPS, { apiVersion: 'v1', metadata: { name: 'a' } })),
    each('neither kind nor version', post(`${CONFIG_MAPS}?dryRun=All`, { metadata: { name: 'a' } })),
    each('no version', post(CONFIG_MAPS, { kind: 'ConfigMap', metadata: { name: 'a' } })),
    each('another kind', post(CONFIG_MAPS, core('Secret', 'a'))),
    each('another version', post(CONFIG_MAPS, of('v2', 'ConfigMap', 'a'))),
    each('another group', post(CONFIG_MAPS, of('example.com/v1', 'ConfigMap', 'a'))),
    each('a kind that is none', post(CONFIG_MAPS, of('v1', 'Poem', 'a'))),
    each('a type that is none', post(CONFIG_MAPS, 'x', { headers: { 'content-type': 'text/plain' } })),
    each('no type', post(`${CONFIG_MAPS}?dryRun=All`, configMap('a'), { headers: { 'content-type': '' } })),
    each('a namespace unlike that of the path', post(CONFIG_MAPS, configMap('a', {}, { namespace: 'other' }))),
    each('the namespace of the path', post(`${CONFIG_MAPS}?dryRun=All`, configMap('a', {}, { namespace: '$(ns)' }))),
    each(
      'a name unlike that of the path',
      post(CONFIG_MAPS, configMap('here'), { shows: 'code' }),
      put(`${CONFIG_MAPS}/here`, configMap('there')),
    ),
    each('no name in a replacement', put(`${CONFIG_MAPS}/here`, { apiVersion: 'v1', kind: 'ConfigMap' })),
    each('a namespace that is not there', post('/api/v1/namespaces/missing/configmaps', configMap('a'))),
    each('a version at the start', post(CONFIG_MAPS, configMap('a', {}, { resourceVersion: '7' }))),
    each(
      'a uid at the start',
      post(
        `${CONFIG_MAPS}?dryRun=All`,
        configMap('a', {}, { uid: 'mine', creationTimestamp: '2020-01-01T00:00:00Z', generation: 7, selfLink: '/x' }),
      ),
    ),
    each(
      'a deletion at the start',
      post(
        `${CONFIG_MAPS}?dryRun=All`,
        configMap('a', {}, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 }),
      ),
    ),
    each(
      'a cluster object with a namespace',
      post(`${NODES}?dryRun=All`, core('Node', 'contract-n', {}, { namespace: 'x' })),
    ),
    each(
      'a name made up',
      post(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }),
    ),
    each(
      'a name made up beside one',
      post(`${CONFIG_MAPS}?dryRun=All`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'given', generateName: 'gen-' },
      }),
    ),
    each(
      'a name made up from a bad one',
      post(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'Gen_' } }, { shows: 'code' }),
    ),
    each(
      'a name made up from a long one',
      post(
        CONFIG_MAPS,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g'.repeat(300) } },
        { shows: 'code' },
      ),
    ),
    each('no name at all', post(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} })),
    each('a method that is none', { verb: 'PUT', path: CONFIG_MAPS, body: configMap('a') }),
    each('a post to an object', post(`${CONFIG_MAPS}/here`, configMap('here'))),
    each('a deletion of a review', remove('/apis/authentication.k8s.io/v1/tokenreviews')),
    each(
      'a text that is too long for a time',
      post(
        `${LEASES}?dryRun=All`,
        of('coordination.k8s.io/v1', 'Lease', 'a', { spec: { renewTime: '2020-01-01T00:00:00Z' } }),
      ),
    ),
  ],
}

export const updates: ContractTable = {
  name: 'updates',
  cases: [
    each(
      'a replacement without a version',
      post(CONFIG_MAPS, configMap('c', { a: '1' }), { keep: 'c', shows: 'code' }),
      put(`${CONFIG_MAPS}/c`, configMap('c', { a: '2' })),
    ),
    each(
      'a replacement with an old version',
      put(`${CONFIG_MAPS}/c`, configMap('c', { a: '3' }, { resourceVersion: '1' })),
    ),
    each(
      'a replacement with a version that is no number',
      put(`${CONFIG_MAPS}/c`, configMap('c', { a: '3' }, { resourceVersion: 'x' }), { shows: 'code' }),
    ),
    each('a replacement with another uid', put(`${CONFIG_MAPS}/c`, configMap('c', { a: '3' }, { uid: 'other' }))),
    each(
      'a replacement with its version',
      get(`${CONFIG_MAPS}/c`, { keep: 'now', shows: 'code' }),
      put(
        `${CONFIG_MAPS}/c`,
        configMap('c', { a: '4' }, { resourceVersion: '$(now.metadata.resourceVersion)', uid: '$(now.metadata.uid)' }),
      ),
    ),
    each('a replacement of what is not there', put(`${CONFIG_MAPS}/missing`, configMap('missing'))),
    each(
      'a replacement that makes a lease',
      put(`${LEASES}/new`, of('coordination.k8s.io/v1', 'Lease', 'new', { spec: { holderIdentity: 'h' } })),
    ),
    each(
      'a replacement that makes a lease, with a uid',
      put(`${LEASES}/newer`, of('coordination.k8s.io/v1', 'Lease', 'newer', {}, { uid: 'x' })),
    ),
    each(
      'a replacement of a lease without a version',
      put(`${LEASES}/new`, of('coordination.k8s.io/v1', 'Lease', 'new', { spec: { holderIdentity: 'i' } })),
    ),
    each(
      'a replacement that makes an event',
      put(`${EVENTS}/new`, core('Event', 'new', { involvedObject: { namespace: '$(ns)' } })),
    ),
    each(
      'a replacement that makes a service',
      put(`${SERVICES}/new`, core('Service', 'new', { spec: { ports: [{ port: 80 }] } })),
    ),
    each(
      'a replacement that makes endpoints',
      put(`${NAMESPACED}/endpoints/new2`, core('Endpoints', 'new2'), { shows: ['kind', 'metadata.name'] }),
    ),
    each('a replacement that makes a pod', put(`${PODS}/missing`, pod('missing'))),
    each('a replacement that makes a node', put(`${NODES}/contract-missing`, core('Node', 'contract-missing'))),
    each(
      'what cannot change of a configmap',
      post(CONFIG_MAPS, { ...configMap('frozen', { a: '1' }), immutable: true }, { shows: 'code' }),
      patch('merge', `${CONFIG_MAPS}/frozen`, { data: { a: '2' } }),
      patch('merge', `${CONFIG_MAPS}/frozen`, { immutable: false }),
      patch('merge', `${CONFIG_MAPS}/frozen`, { metadata: { labels: { a: 'b' } } }, { shows: ['metadata.labels'] }),
    ),
    each(
      'what cannot change of a secret',
      post(SECRETS, core('Secret', 'frozen', { stringData: { a: '1' }, immutable: true }), { shows: 'code' }),
      patch('merge', `${SECRETS}/frozen`, { stringData: { a: '2' } }),
      patch('merge', `${SECRETS}/frozen`, { type: 'other' }),
    ),
    each(
      'what cannot change of a service',
      post(SERVICES, core('Service', 's', { spec: { ports: [{ port: 80 }] } }), { shows: 'code' }),
      patch('merge', `${SERVICES}/s`, { spec: { clusterIP: '10.96.0.99', clusterIPs: ['10.96.0.99'] } }),
      patch('merge', `${SERVICES}/s`, { spec: { clusterIP: 'None' } }),
    ),
    each(
      'a service that changes its type',
      patch('merge', `${SERVICES}/s`, { spec: { type: 'NodePort' } }),
      patch('merge', `${SERVICES}/s`, { spec: { type: 'ClusterIP' } }),
      patch('merge', `${SERVICES}/s`, { spec: { type: 'ExternalName', externalName: 'x.example.com' } }),
    ),
    each(
      'the status of a service is its own',
      patch(
        'merge',
        `${SERVICES}/s`,
        { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } },
        { shows: ['status'] },
      ),
    ),
    each(
      'the generation of a pod',
      post(PODS, pod('g'), { shows: ['metadata.generation'] }),
      patch('merge', `${PODS}/g`, { metadata: { labels: { a: 'b' } } }, { shows: ['metadata.generation'] }),
      patch(
        'strategic',
        `${PODS}/g`,
        { spec: { containers: [{ name: 'main', image: 'registry.test/x:2' }] } },
        { shows: ['metadata.generation'] },
      ),
      remove(`${PODS}/g`, undefined, { shows: 'code' }),
    ),
    each(
      'what cannot change of a pod',
      post(PODS, pod('u'), { shows: 'code' }),
      patch('merge', `${PODS}/u`, {
        spec: { dnsPolicy: 'Default', priorityClassName: 'system-node-critical', hostname: 'x' },
      }),
    ),
    each('tolerations of a pod may be added only', patch('merge', `${PODS}/u`, { spec: { tolerations: [] } })),
    each('a pod without containers any more', patch('merge', `${PODS}/u`, { spec: { containers: [] } })),
    each('an empty image', patch('strategic', `${PODS}/u`, { spec: { containers: [{ name: 'main', image: '' }] } })),
    each('labels that break rules', patch('merge', `${PODS}/u`, { metadata: { labels: { 'a b': 'c' } } })),
    each('the name of a generation', patch('merge', `${PODS}/u`, { metadata: { generateName: 'x' } })),
    each(
      'what cannot change of a claim',
      post(
        `${NAMESPACED}/persistentvolumeclaims`,
        core('PersistentVolumeClaim', 'c', {
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'none',
            resources: { requests: { storage: '1Gi' } },
          },
        }),
        { shows: 'code' },
      ),
      patch('merge', `${NAMESPACED}/persistentvolumeclaims/c`, { spec: { accessModes: ['ReadOnlyMany'] } }),
      patch('merge', `${NAMESPACED}/persistentvolumeclaims/c`, {
        spec: { resources: { requests: { storage: '2Gi' } } },
      }),
    ),
    each(
      'what cannot change of a volume',
      post(
        '/api/v1/persistentvolumes',
        core('PersistentVolume', 'contract-u', {
          spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
        }),
        { shows: 'code' },
      ),
      patch('merge', '/api/v1/persistentvolumes/contract-u', { spec: { hostPath: { path: '/y' } } }),
      patch('merge', '/api/v1/persistentvolumes/contract-u', { spec: { volumeMode: 'Block' } }),
      remove('/api/v1/persistentvolumes/contract-u', undefined, { shows: 'code' }),
    ),
    each(
      'what cannot change of a priority class',
      post(
        '/apis/scheduling.k8s.io/v1/priorityclasses',
        of('scheduling.k8s.io/v1', 'PriorityClass', 'contract-u', { value: 1 }),
        { shows: 'code' },
      ),
      patch('merge', '/apis/scheduling.k8s.io/v1/priorityclasses/contract-u', { value: 2 }),
      patch(
        'merge',
        '/apis/scheduling.k8s.io/v1/priorityclasses/contract-u',
        { description: 'd' },
        { shows: ['description', 'metadata.generation'] },
      ),
      remove('/apis/scheduling.k8s.io/v1/priorityclasses/contract-u'),
    ),
    each(
      'what cannot change of a runtime class',
      post(
        '/apis/node.k8s.io/v1/runtimeclasses',
        of('node.k8s.io/v1', 'RuntimeClass', 'contract-u', { handler: 'x' }),
        { shows: 'code' },
      ),
      patch('merge', '/apis/node.k8s.io/v1/runtimeclasses/contract-u', { handler: 'y' }),
      remove('/apis/node.k8s.io/v1/runtimeclasses/contract-u'),
    ),
    each(
      'what cannot change of a driver',
      post(
        '/apis/storage.k8s.io/v1/csidrivers',
        of('storage.k8s.io/v1', 'CSIDriver', 'updated.example.com', { spec: {} }),
        { shows: 'code' },
      ),
      patch('merge', '/apis/storage.k8s.io/v1/csidrivers/updated.example.com', { spec: { attachRequired: false } }),
      patch(
        'merge',
        '/apis/storage.k8s.io/v1/csidrivers/updated.example.com',
        { spec: { requiresRepublish: true } },
        { shows: ['spec', 'metadata.generation'] },
      ),
      remove('/apis/storage.k8s.io/v1/csidrivers/updated.example.com', undefined, { shows: 'code' }),
    ),
    each(
      'the status of a claim is its own',
      patch(
        'merge',
        `${NAMESPACED}/persistentvolumeclaims/c/status`,
        { status: { phase: 'Lost' }, spec: { volumeName: 'x' } },
        { shows: ['status', 'spec.volumeName'] },
      ),
    ),
  ],
}

import { each, get, patch, post, remove } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { CONFIG_MAPS, configMap, core, NODES, pod, PODS, SERVICES } from './objects.ts'

const META = [
  'kind',
  'status',
  'details',
  'metadata.deletionGracePeriodSeconds',
  'metadata.deletionTimestamp',
  'metadata.finalizers',
  'metadata.generation',
  'reason',
  'code',
  'message',
]
const finalizers = ['example.com/hold']
const onNode = (name: string, spec: object = {}) => pod(name, { nodeName: 'node-1', ...spec })

export const deletion: ContractTable = {
  name: 'deletion',
  cases: [
    each(
      'an object',
      post(CONFIG_MAPS, configMap('a'), { shows: 'code' }),
      remove(`${CONFIG_MAPS}/a`),
      get(`${CONFIG_MAPS}/a`, { shows: 'code' }),
    ),
    each('what is not there', remove(`${CONFIG_MAPS}/missing`)),
    each(
      'with the right uid',
      post(CONFIG_MAPS, configMap('b'), { keep: 'b', shows: 'code' }),
      remove(`${CONFIG_MAPS}/b`, {
        preconditions: { uid: '$(b.metadata.uid)', resourceVersion: '$(b.metadata.resourceVersion)' },
      }),
    ),
    each(
      'with another uid',
      post(CONFIG_MAPS, configMap('c'), { shows: 'code' }),
      remove(`${CONFIG_MAPS}/c`, { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }),
    ),
    each(
      'with another version',
      remove(`${CONFIG_MAPS}/c`, { preconditions: { resourceVersion: '1' } }, { shows: 'code' }),
    ),
    each('with a body that is none', remove(`${CONFIG_MAPS}/c`, 'nonsense', { shows: 'code' })),
    each(
      'with options of a kind',
      remove(`${CONFIG_MAPS}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 3, dryRun: ['All'] }),
    ),
    each(
      'with options of another kind',
      remove(`${CONFIG_MAPS}/c`, { apiVersion: 'v1', kind: 'Pod' }, { shows: 'code' }),
    ),
    each(
      'with two ways for what is owned',
      remove(`${CONFIG_MAPS}/c`, { orphanDependents: true, propagationPolicy: 'Foreground' }),
    ),
    each('with a way that is none', remove(`${CONFIG_MAPS}/c?propagationPolicy=Sideways`)),
    each('with a negative grace', remove(`${CONFIG_MAPS}/c`, { gracePeriodSeconds: -1 }, { shows: META })),
    each(
      'held by a finalizer',
      post(CONFIG_MAPS, configMap('f', {}, { finalizers }), { shows: 'code' }),
      remove(`${CONFIG_MAPS}/f`),
      remove(`${CONFIG_MAPS}/f`, undefined, { shows: META }),
      get(`${CONFIG_MAPS}/f`, { shows: META }),
      patch('merge', `${CONFIG_MAPS}/f`, { data: { still: 'changes' } }, { shows: ['data'] }),
      patch('merge', `${CONFIG_MAPS}/f`, { metadata: { finalizers: ['example.com/other', ...finalizers] } }),
      patch('merge', `${CONFIG_MAPS}/f`, { metadata: { finalizers: null } }, { shows: META }),
      get(`${CONFIG_MAPS}/f`, { shows: 'code' }),
    ),
    each(
      'foreground',
      post(CONFIG_MAPS, configMap('fg'), { shows: 'code' }),
      remove(`${CONFIG_MAPS}/fg?propagationPolicy=Foreground`, undefined, { shows: ['kind'] }),
      get(`${CONFIG_MAPS}/fg`, { until: 404, shows: 'code' }),
    ),
    each(
      'orphans',
      post(CONFIG_MAPS, configMap('owner'), { keep: 'owner', shows: 'code' }),
      post(
        CONFIG_MAPS,
        configMap(
          'owned',
          {},
          { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '$(owner.metadata.uid)' }] },
        ),
        { shows: 'code' },
      ),
      remove(`${CONFIG_MAPS}/owner?propagationPolicy=Orphan`, undefined, { shows: ['kind'] }),
      get(`${CONFIG_MAPS}/owner`, { until: 404, shows: 'code' }),
      get(`${CONFIG_MAPS}/owned`, { shows: ['metadata.ownerReferences'] }),
    ),
    each(
      'what is owned goes too',
      post(CONFIG_MAPS, configMap('owner2'), { keep: 'owner', shows: 'code' }),
      post(
        CONFIG_MAPS,
        configMap(
          'owned2',
          {},
          { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner2', uid: '$(owner.metadata.uid)' }] },
        ),
        { shows: 'code' },
      ),
      remove(`${CONFIG_MAPS}/owner2`, undefined, { shows: ['kind', 'status'] }),
      get(`${CONFIG_MAPS}/owned2`, { until: 404, shows: 'code' }),
    ),
    each(
      'a pod without a node',
      post(PODS, pod('p'), { shows: 'code' }),
      remove(`${PODS}/p`, undefined, { shows: META }),
      get(`${PODS}/p`, { shows: 'code' }),
    ),
    each(
      'a pod on a node',
      post(PODS, onNode('q'), { shows: 'code' }),
      remove(`${PODS}/q`, undefined, { shows: META }),
      get(`${PODS}/q`, { shows: META }),
      remove(`${PODS}/q?gracePeriodSeconds=0`, undefined, { shows: META }),
      get(`${PODS}/q`, { shows: 'code' }),
    ),
    each(
      'a pod with a grace',
      post(PODS, onNode('r'), { shows: 'code' }),
      remove(`${PODS}/r?gracePeriodSeconds=7`, undefined, { shows: META }),
      remove(`${PODS}/r?gracePeriodSeconds=3`, undefined, { shows: META }),
      remove(`${PODS}/r?gracePeriodSeconds=9`, undefined, { shows: META }),
      remove(`${PODS}/r`, { gracePeriodSeconds: 0 }, { shows: META }),
    ),
    each(
      'a pod with a grace of its own',
      post(PODS, onNode('s', { terminationGracePeriodSeconds: 5 }), { shows: 'code' }),
      remove(`${PODS}/s`, undefined, { shows: META }),
      remove(`${PODS}/s?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
    ),
    each(
      'a pod without a grace',
      post(PODS, onNode('t', { terminationGracePeriodSeconds: 0 }), { shows: 'code' }),
      remove(`${PODS}/t`, undefined, { shows: META }),
      get(`${PODS}/t`, { shows: 'code' }),
    ),
    each(
      'a pod that is done',
      post(PODS, onNode('v'), { shows: 'code' }),
      patch('merge', `${PODS}/v/status`, { status: { phase: 'Succeeded' } }, { shows: 'code' }),
      remove(`${PODS}/v`, undefined, { shows: META }),
      get(`${PODS}/v`, { shows: 'code' }),
    ),
    each(
      'a pod with a finalizer',
      post(PODS, pod('w', { nodeName: 'node-1' }, { finalizers }), { shows: 'code' }),
      remove(`${PODS}/w?gracePeriodSeconds=0`, undefined, { shows: META }),
      patch('json', `${PODS}/w`, [{ op: 'remove', path: '/metadata/finalizers' }], { shows: META }),
      get(`${PODS}/w`, { shows: 'code' }),
    ),
    each(
      'a pod by force with a uid',
      post(PODS, onNode('x'), { keep: 'x', shows: 'code' }),
      remove(`${PODS}/x`, { gracePeriodSeconds: 0, preconditions: { uid: '$(x.metadata.uid)' } }, { shows: META }),
    ),
    each(
      'all of a kind',
      post(CONFIG_MAPS, configMap('all-1', {}, { labels: { all: 'x' } }), { shows: 'code' }),
      post(CONFIG_MAPS, configMap('all-2', {}, { labels: { all: 'x' } }), { shows: 'code' }),
      remove(`${CONFIG_MAPS}?labelSelector=all`, undefined, { shows: ['kind', 'apiVersion', 'items.*.metadata.name'] }),
      get(`${CONFIG_MAPS}?labelSelector=all`, { shows: ['items'] }),
    ),
    each('all of a kind without any', remove(SERVICES)),
    each(
      'all services',
      post(SERVICES, core('Service', 'a', { spec: { ports: [{ port: 1 }] } }), { shows: 'code' }),
      remove(SERVICES, undefined, { shows: ['kind', 'items.*.metadata.name'] }),
    ),
    each(
      'all of a kind as a trial',
      remove(`${CONFIG_MAPS}?dryRun=All&labelSelector=none`, undefined, { shows: ['kind'] }),
    ),
    each(
      'a service',
      post(SERVICES, core('Service', 'b', { spec: { ports: [{ port: 1 }] } }), { shows: 'code' }),
      remove(`${SERVICES}/b`),
    ),
    each('a node', post(NODES, core('Node', 'contract-gone'), { shows: 'code' }), remove(`${NODES}/contract-gone`)),
    each('a namespace of the system', remove('/api/v1/namespaces/default')),
    each('all namespaces', remove('/api/v1/namespaces')),
    each('a priority class of the system', remove('/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical')),
    each('a pod that does not exist', remove(`${PODS}/missing?gracePeriodSeconds=0`)),
    each('with a grace that is none', remove(`${PODS}/missing?gracePeriodSeconds=x`)),
  ],
}

import { each, get, patch, post, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { CLAIMS, configMap, CONFIG_MAPS, container, core, NAMESPACED, pod, PODS, podOf, SECRETS } from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

const QUOTAS = `${NAMESPACED}/resourcequotas`
const RANGES = `${NAMESPACED}/limitranges`
const quota = (name: string, spec: Fields) => core('ResourceQuota', name, { spec })
const range = (name: string, ...limits: readonly unknown[]) => core('LimitRange', name, { spec: { limits } })
const quiet = { shows: 'code' } as const
const dry = (path: string) => `${path}?dryRun=All`
const sized = (requests: Fields, limits: Fields = {}) => ({ resources: { requests, limits } })

const quotas: Readonly<Record<string, Fields>> = {
  'of pods': { hard: { pods: '2' } },
  'of all that is standard': {
    hard: { cpu: '1', 'requests.memory': '1Gi', 'limits.cpu': '2', services: '1', 'requests.storage': '1Gi' },
  },
  'of a name that is none': { hard: { apples: '1' } },
  'of a count': { hard: { 'count/deployments.apps': '1', 'count/configmaps': '3' } },
  'of less than nothing': { hard: { pods: '-1' } },
  'of a class of storage': { hard: { 'gold.storageclass.storage.k8s.io/requests.storage': '1Gi' } },
  'with a scope': { hard: { pods: '1' }, scopes: ['BestEffort'] },
  'with a scope that does not fit': { hard: { cpu: '1' }, scopes: ['BestEffort'] },
  'with a scope that is none': { hard: { pods: '1' }, scopes: ['Loud'] },
  'with scopes that contradict each other': { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
  'with a selector': {
    hard: { pods: '1' },
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
  },
  'with a selector without values': {
    hard: { pods: '1' },
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] },
  },
}

const ranges: Readonly<Record<string, unknown>> = {
  'of containers': { type: 'Container', max: { cpu: '2' }, min: { cpu: '100m' } },
  'of containers with defaults': { type: 'Container', default: { cpu: '1' }, defaultRequest: { memory: '1Mi' } },
  'of pods': { type: 'Pod', max: { memory: '1Gi' } },
  'of pods with defaults': { type: 'Pod', default: { cpu: '1' } },
  'of claims': { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
  'of claims with nothing': { type: 'PersistentVolumeClaim' },
  'with more least than most': { type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } },
  'with a default above the most': { type: 'Container', max: { cpu: '1' }, default: { cpu: '2' } },
  'with a ratio below one': { type: 'Container', maxLimitRequestRatio: { cpu: '500m' } },
}

/** The real one learns of a quota a moment later. */
const known = post(dry(SECRETS), core('Secret', 'none'), { until: 403, ...quiet })

const lives: readonly ContractCase[] = [
  each(
    'a quota of pods: the third is refused',
    post(QUOTAS, quota('pods', { hard: { pods: '2', secrets: '0' } }), quiet),
    known,
    post(PODS, pod('one'), { until: 201, ...quiet }),
    post(PODS, pod('two'), quiet),
    post(PODS, pod('three')),
    post(dry(PODS), pod('three')),
    remove(`${PODS}/two`, { gracePeriodSeconds: 0 }, quiet),
    post(PODS, pod('three'), { until: 201, ...quiet }),
    remove(`${PODS}/one`, { gracePeriodSeconds: 0 }, quiet),
    remove(`${PODS}/three`, { gracePeriodSeconds: 0 }, quiet),
    remove(`${QUOTAS}/pods`, undefined, quiet),
  ),
  each(
    'a quota of CPU: what is not said, and too much',
    post(QUOTAS, quota('cpu', { hard: { 'requests.cpu': '1', 'limits.memory': '1Gi', secrets: '0' } }), quiet),
    known,
    post(PODS, podOf('fits', sized({ cpu: '600m' }, { memory: '512Mi' })), { until: 201, ...quiet }),
    post(PODS, pod('silent')),
    post(PODS, podOf('much', sized({ cpu: '500m' }, { memory: '512Mi' }))),
    post(PODS, podOf('more', sized({ cpu: '500m' }, { memory: '1Gi' }))),
    remove(`${PODS}/fits`, { gracePeriodSeconds: 0 }, quiet),
    remove(`${QUOTAS}/cpu`, undefined, quiet),
  ),
  each(
    'a quota of CPU, and pods that say it for all of their containers',
    post(QUOTAS, quota('whole', { hard: { 'requests.cpu': '1', 'limits.cpu': '2', secrets: '0' } }), quiet),
    known,
    post(PODS, whole('fits', { requests: { cpu: '600m' }, limits: { cpu: '1' } }), { until: 201, ...quiet }),
    post(PODS, whole('much', { requests: { cpu: '600m' }, limits: { cpu: '1' } })),
    post(PODS, whole('wide', { requests: { cpu: '100m' }, limits: { cpu: '1500m' } })),
    post(PODS, whole('other', { requests: { memory: '1Mi' } }), quiet),
    remove(`${PODS}/fits`, { gracePeriodSeconds: 0 }, quiet),
    remove(`${PODS}/other`, { gracePeriodSeconds: 0 }, quiet),
    remove(`${QUOTAS}/whole`, undefined, quiet),
  ),
  each(
    'a range of pods, and pods that say it for all of their containers',
    post(RANGES, range('whole', { type: 'Pod', max: { cpu: '1' }, min: { cpu: '100m' } }), quiet),
    post(dry(PODS), whole('much', { requests: { cpu: '2' }, limits: { cpu: '2' } }), { until: 403 }),
    post(dry(PODS), whole('little', { requests: { cpu: '50m' }, limits: { cpu: '1' } })),
    post(dry(PODS), whole('fits', { requests: { cpu: '500m' }, limits: { cpu: '1' } }), quiet),
    remove(`${RANGES}/whole`, undefined, quiet),
  ),
  each(
    'a quota of a scope',
    post(QUOTAS, quota('effort', { hard: { pods: '0' }, scopes: ['BestEffort'] }), quiet),
    post(dry(PODS), pod('best'), { until: 403 }),
    post(dry(PODS), podOf('burst', sized({ cpu: '1m' })), { ...quiet, until: 201 }),
    patch('merge', `${QUOTAS}/effort`, { spec: { scopes: null } }),
    remove(`${QUOTAS}/effort`, undefined, quiet),
  ),
  each(
    'a quota of objects by their count',
    post(QUOTAS, quota('count', { hard: { 'count/configmaps': '2', secrets: '0' } }), quiet),
    known,
    post(CONFIG_MAPS, configMap('one'), { until: 201, ...quiet }),
    post(CONFIG_MAPS, configMap('two')),
    patch('merge', `${CONFIG_MAPS}/one`, { data: { a: 'b' } }, quiet),
    remove(`${QUOTAS}/count`, undefined, quiet),
  ),
  each(
    'a range fills and refuses',
    post(
      RANGES,
      range(
        'range',
        {
          type: 'Container',
          max: { cpu: '2' },
          min: { cpu: '100m' },
          default: { memory: '64Mi' },
          maxLimitRequestRatio: { cpu: '4' },
        },
        { type: 'Pod', max: { memory: '128Mi' } },
      ),
      { shows: ['spec'] },
    ),
    post(dry(PODS), pod('filled'), {
      shows: ['spec.containers.*.resources', 'metadata.annotations', 'status.qosClass'],
      until: 201,
    }),
    post(dry(PODS), podOf('small', sized({ cpu: '50m' }, { cpu: '200m' }))),
    post(dry(PODS), podOf('large', sized({ cpu: '1' }, { cpu: '3' }))),
    post(dry(PODS), podOf('wide', sized({ cpu: '100m' }, { cpu: '1' }))),
    post(
      dry(PODS),
      pod('two', { containers: [container(), container({ name: 'second' }), container({ name: 'third' })] }),
    ),
    remove(`${RANGES}/range`, undefined, quiet),
  ),
  each(
    'a range and a resize',
    post(PODS, podOf('grows', sized({ cpu: '200m' }, { cpu: '500m' })), quiet),
    post(PODS, podOf('outside', sized({ cpu: '50m' })), quiet),
    post(RANGES, range('sizes', { type: 'Container', max: { cpu: '1' }, min: { cpu: '100m' } }), quiet),
    resize('outside', {}, { until: 403 }),
    resize('grows', { requests: { cpu: '200m' }, limits: { cpu: '2' } }),
    resize('grows', { requests: { cpu: '50m' } }),
    resize('grows', { requests: { cpu: '3' }, limits: { cpu: '2' } }, { shows: 'code' }),
    resize('grows', { requests: { cpu: '1' }, limits: { cpu: '1' } }, { shows: ['spec.containers.*.resources'] }),
    resize('outside', { requests: { cpu: '100m' } }),
    patch('merge', `${PODS}/outside`, { metadata: { labels: { size: 'small' } } }, quiet),
    remove(`${RANGES}/sizes`, undefined, quiet),
  ),
  each(
    'a range with defaults and a resize',
    post(PODS, podOf('fills', sized({ cpu: '200m' })), quiet),
    post(RANGES, range('filling', { type: 'Container', default: { memory: '64Mi' } }), quiet),
    post(dry(PODS), pod('filled'), { until: 201, shows: ['spec.containers.*.resources'] }),
    resize('fills', { requests: { cpu: '300m' } }, { shows: ['spec.containers.*.resources', 'metadata.annotations'] }),
    remove(`${RANGES}/filling`, undefined, quiet),
  ),
  each(
    'a range of pods and a resize',
    post(PODS, podOf('whole', sized({ cpu: '200m' }, { cpu: '500m' })), quiet),
    post(RANGES, range('wholes', { type: 'Pod', max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '2' } }), quiet),
    resize('whole', { limits: { cpu: '600m' } }, { until: 403 }),
    resize('whole', { requests: { cpu: '900m' }, limits: { cpu: '1100m' } }),
    resize('whole', { requests: { cpu: '500m' }, limits: { cpu: '1' } }, quiet),
    remove(`${RANGES}/wholes`, undefined, quiet),
  ),
  each(
    'a range of claims',
    post(
      RANGES,
      range('claims', { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }),
      quiet,
    ),
    post(dry(CLAIMS), claim('1Mi'), { until: 403 }),
    post(dry(CLAIMS), claim('3Gi')),
    post(dry(CLAIMS), claim('1Gi'), quiet),
    remove(`${RANGES}/claims`, undefined, quiet),
  ),
  each(
    'what is used',
    post(QUOTAS, quota('used', { hard: { pods: '5', secrets: '9' } }), quiet),
    post(PODS, pod('user'), { until: 201, ...quiet }),
    get(`${QUOTAS}/used`, { shows: ['status.hard'] }),
  ),
]

function resize(name: string, resources: Fields, options: Parameters<typeof patch>[3] = {}) {
  return patch('strategic', `${PODS}/${name}/resize`, { spec: { containers: [{ name: 'main', resources }] } }, options)
}

function whole(name: string, resources: Fields) {
  return pod(name, {
    resources,
    containers: [container({ resources: { requests: { cpu: '10m' }, limits: { cpu: '20m' } } })],
  })
}

function claim(storage: string) {
  return core('PersistentVolumeClaim', 'c', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  })
}

export const quotaTable: ContractTable = {
  name: 'quotas',
  cases: [
    ...Object.entries(quotas).map(([name, spec]) =>
      each(`quota ${name}`, post(dry(QUOTAS), quota('q', spec), { shows: ['spec'] })),
    ),
    ...Object.entries(ranges).map(([name, item]) =>
      each(`range ${name}`, post(dry(RANGES), range('r', item), { shows: ['spec'] })),
    ),
    each(
      'range of a type twice',
      post(dry(RANGES), range('r', { type: 'Pod', max: { cpu: '1' } }, { type: 'Pod', max: { cpu: '1' } })),
    ),
    ...lives,
  ],
}

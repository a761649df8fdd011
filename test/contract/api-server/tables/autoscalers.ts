import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { of } from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

const OLD = '/apis/autoscaling/v1/namespaces/$(ns)/horizontalpodautoscalers'
const NEW = '/apis/autoscaling/v2/namespaces/$(ns)/horizontalpodautoscalers'
const TABLE = {
  headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
  shows: ['columnDefinitions.*.name', 'rows.*.cells', 'rows.*.object'],
}
const PREFIX = 'autoscaling.alpha.kubernetes.io'

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const old = (spec: Fields = {}, metadata: Fields = {}, fields: Fields = {}) =>
  of(
    'autoscaling/v1',
    'HorizontalPodAutoscaler',
    'web',
    { spec: { scaleTargetRef: target, maxReplicas: 5, ...spec }, ...fields },
    metadata,
  )
const newer = (spec: Fields = {}, metadata: Fields = {}, fields: Fields = {}) =>
  of(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    'web',
    { spec: { scaleTargetRef: target, maxReplicas: 5, ...spec }, ...fields },
    metadata,
  )
const resource = (name: string, how: Fields) => ({ type: 'Resource', resource: { name, target: how } })
const cpu = (averageUtilization: number) => resource('cpu', { type: 'Utilization', averageUtilization })
const memory = resource('memory', { type: 'AverageValue', averageValue: '100Mi' })
const inContainer = {
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container: 'main', target: { type: 'Utilization', averageUtilization: 30 } },
}
const metric = { name: 'requests', selector: { matchLabels: { a: 'b<c>' } } }
const ofPods = { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '10' } } }
const ofObject = (how: Fields) => ({ type: 'Object', object: { describedObject: target, metric, target: how } })
const external = (how: Fields) => ({ type: 'External', external: { metric, target: how } })
const value = { type: 'Value', value: '7' }
const average = { type: 'AverageValue', averageValue: '500m' }
const behavior = {
  scaleDown: { stabilizationWindowSeconds: 60, policies: [{ type: 'Pods', value: 1, periodSeconds: 30 }] },
  scaleUp: { selectPolicy: 'Disabled', tolerance: '50m' },
}
const status = {
  observedGeneration: 1,
  currentReplicas: 2,
  desiredReplicas: 3,
  lastScaleTime: '2020-01-01T00:00:00Z',
  currentMetrics: [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12, averageValue: '12m' } } },
    { type: 'Resource', resource: { name: 'memory', current: { averageValue: '90Mi' } } },
    { type: 'Pods', pods: { metric, current: { averageValue: '3' } } },
    { type: 'Object', object: { describedObject: target, metric, current: { value: '4', averageValue: '2' } } },
    { type: 'External', external: { metric, current: { averageValue: '5' } } },
    {
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container: 'main', current: { averageUtilization: 1, averageValue: '1m' } },
    },
  ],
  conditions: [
    {
      type: 'AbleToScale',
      status: 'True',
      lastTransitionTime: '2020-01-01T00:00:00Z',
      reason: 'ReadyForNewScale',
      message: 'recommended size matches current size',
    },
    { type: 'ScalingLimited', status: 'False', lastTransitionTime: '2020-01-01T00:00:00Z' },
  ],
}
const annotated = (annotations: Fields) => ({ annotations: { kept: 'yes', ...annotations } })
const MEMORY_TEXT = '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":70}}]'

const made: Readonly<Record<string, Fields>> = {
  'of nothing': old(),
  'of a utilization': old({ minReplicas: 2, targetCPUUtilizationPercentage: 60 }),
  'of a status that nobody asked for': old({}, {}, { status: { currentReplicas: 3, desiredReplicas: 4 } }),
  'with metrics in an annotation': old({}, annotated({ [`${PREFIX}/metrics`]: MEMORY_TEXT })),
  'with metrics and a utilization': old(
    { targetCPUUtilizationPercentage: 60 },
    annotated({ [`${PREFIX}/metrics`]: MEMORY_TEXT }),
  ),
  'with an annotation that is no JSON': old(
    {},
    annotated({ [`${PREFIX}/metrics`]: '[{', [`${PREFIX}/behavior`]: 'x' }),
  ),
  'with an annotation of wrong types': old({}, annotated({ [`${PREFIX}/metrics`]: '[{"type":5}]' })),
  'with a metric that is none': old({}, annotated({ [`${PREFIX}/metrics`]: '[{"type":"Loud"}]' })),
  'with behavior in an annotation': old(
    {},
    annotated({
      [`${PREFIX}/behavior`]:
        '{"ScaleUp":{"StabilizationWindowSeconds":3,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":2,"PeriodSeconds":5}]},"ScaleDown":{"StabilizationWindowSeconds":9,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":50,"PeriodSeconds":5}]}}',
    }),
  ),
  'with a tolerance in an annotation': old({}, annotated({ [`${PREFIX}/scale-up-tolerance`]: '50m' })),
  'without a most': old({ maxReplicas: 0 }),
  'with more least than most': old({ minReplicas: 9 }),
  'of a utilization of nothing': old({ targetCPUUtilizationPercentage: 0 }),
  'without a target': old({ scaleTargetRef: { kind: 'Deployment' } }),
}

const shown: Readonly<Record<string, Fields>> = {
  'the default metric': newer(),
  'one utilization': newer({ metrics: [cpu(50)] }),
  'a utilization among others': newer({ metrics: [memory, cpu(50), inContainer] }),
  'two utilizations of CPU': newer({ metrics: [cpu(50), cpu(60)] }),
  'an average of CPU': newer({ metrics: [resource('cpu', { type: 'AverageValue', averageValue: '100m' })] }),
  'all kinds of metrics': newer({
    metrics: [ofPods, ofObject(value), ofObject(average), external(value), external(average), inContainer, memory],
  }),
  behavior: newer({ metrics: [memory], behavior }),
  'annotations that stand for fields': newer(
    {},
    annotated({ [`${PREFIX}/metrics`]: MEMORY_TEXT, [`${PREFIX}/conditions`]: '[]' }),
  ),
}

const cases: readonly ContractCase[] = [
  ...Object.entries(made).map(([name, object]) =>
    each(
      `made in v1: ${name}`,
      post(OLD, object),
      get(`${NEW}/web`),
      get(`${OLD}/web`),
      remove(`${OLD}/web`, undefined, { shows: 'code' }),
    ),
  ),
  ...Object.entries(shown).map(([name, object]) =>
    each(
      `made in v2: ${name}`,
      post(NEW, object),
      get(`${OLD}/web`, { keep: 'old' }),
      // What a client of the old version reads it may write again, and nothing is lost.
      put(`${OLD}/web`, '$(old)', { shows: 'code' }),
      get(`${NEW}/web`),
      remove(`${NEW}/web`, undefined, { shows: 'code' }),
    ),
  ),
  each(
    'a status in both versions',
    post(NEW, newer({ metrics: [memory, cpu(50)] }), { shows: 'code' }),
    patch('merge', `${NEW}/web/status`, { status }),
    get(`${OLD}/web`),
    get(`${OLD}/web/status`, { keep: 'old' }),
    patch('merge', `${OLD}/web/status`, { status: { currentReplicas: 4, currentCPUUtilizationPercentage: 99 } }),
    get(`${NEW}/web`),
    remove(`${NEW}/web`, undefined, { shows: 'code' }),
  ),
  each(
    'a status of v1 alone',
    post(OLD, old(), { shows: 'code' }),
    patch('merge', `${OLD}/web/status`, {
      status: { currentReplicas: 4, desiredReplicas: 4, currentCPUUtilizationPercentage: 99 },
    }),
    get(`${NEW}/web`),
    remove(`${NEW}/web`, undefined, { shows: 'code' }),
  ),
  each(
    'patches in v1',
    post(NEW, newer({ metrics: [memory, cpu(50)], behavior }), { shows: 'code' }),
    patch('strategic', `${OLD}/web`, { spec: { targetCPUUtilizationPercentage: 70, minReplicas: 3 } }),
    patch('merge', `${OLD}/web`, { spec: { targetCPUUtilizationPercentage: null } }),
    patch('merge', `${OLD}/web`, { metadata: { annotations: null } }),
    patch('json', `${OLD}/web`, [{ op: 'replace', path: '/spec/maxReplicas', value: 9 }]),
    patch('merge', `${OLD}/web`, { spec: { maxReplicas: 1 } }),
    patch('merge', `${OLD}/web`, { spec: { metrics: [] } }),
    get(`${NEW}/web`),
    remove(`${NEW}/web`, undefined, { shows: 'code' }),
  ),
  each(
    'applied in v1',
    patch('apply', `${OLD}/web?fieldManager=a`, old({ targetCPUUtilizationPercentage: 60 })),
    patch('apply', `${OLD}/web?fieldManager=a`, old({ targetCPUUtilizationPercentage: 65, minReplicas: 2 })),
    get(`${NEW}/web`),
    patch('apply', `${OLD}/web?fieldManager=b`, old({ maxReplicas: 6 })),
    remove(`${NEW}/web`, undefined, { shows: 'code' }),
  ),
  each(
    'lists and tables of both versions',
    post(NEW, newer({ metrics: [memory, cpu(50)] }), { shows: 'code' }),
    get(OLD, { shows: ['kind', 'apiVersion', 'items.*.metadata', 'items.*.spec', 'items.*.status'] }),
    get(NEW, { shows: ['kind', 'apiVersion', 'items.*.metadata', 'items.*.spec', 'items.*.status'] }),
    get(OLD, TABLE),
    get(`${OLD}/web`, TABLE),
    remove(OLD, undefined, { shows: 'code' }),
    get(NEW),
  ),
  each(
    'the versions of the group',
    get('/apis/autoscaling'),
    get('/apis/autoscaling/v1', {
      shows: ['name', 'kind', 'verbs'].map((field) => `resources.*.${field}`),
    }),
  ),
]

/** Autoscalers in the two versions of their group: one stored object, shown as either. */
export const autoscalers: ContractTable = { name: 'autoscalers', cases }

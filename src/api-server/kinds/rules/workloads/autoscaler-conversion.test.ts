import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '../../../../model/generated/api-groups.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import { autoscalerConversion } from './autoscaler-conversion.ts'

type Stored = ObjectOf<HorizontalPodAutoscaler>

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const metric = { name: 'requests', selector: { matchLabels: { path: '<all>' } } }
const cpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
}
const stored = (spec: Partial<Stored['spec']>, status?: Partial<Stored['status']>): Stored => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 5, metrics: [cpu], ...spec },
  status: { currentReplicas: 1, desiredReplicas: 2, ...status },
})
const metrics: readonly MetricSpec[] = [
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Mi' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 7 } },
  },
  { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '3' } } },
  { type: 'Object', object: { describedObject: scaleTargetRef, metric, target: { type: 'Value', value: '3' } } },
  {
    type: 'Object',
    object: { describedObject: scaleTargetRef, metric, target: { type: 'AverageValue', averageValue: '3' } },
  },
  { type: 'External', external: { metric, target: { type: 'Value', value: '9' } } },
  { type: 'External', external: { metric, target: { type: 'AverageValue', averageValue: '9' } } },
]
const currentMetrics: readonly MetricStatus[] = [
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 3, averageValue: '3m' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', current: { averageValue: '1m' } },
  },
  { type: 'Pods', pods: { metric, current: { averageValue: '3' } } },
  { type: 'Object', object: { describedObject: scaleTargetRef, metric, current: { value: '3', averageValue: '1' } } },
  { type: 'External', external: { metric, current: { value: '0', averageValue: '9' } } },
]
const policies = [{ type: 'Pods', value: 1, periodSeconds: 30 }]

const rows: Readonly<Record<string, Stored>> = {
  'CPU alone': stored({}),
  'metrics of all kinds': stored({ metrics: [...metrics, cpu] }),
  'no CPU': stored({ metrics }),
  behavior: stored({
    behavior: {
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies, tolerance: '50m' },
      scaleDown: { selectPolicy: 'Min', policies },
    },
  }),
  'what was measured': stored(
    {},
    {
      currentMetrics,
      conditions: [
        {
          type: 'AbleToScale',
          status: 'True',
          lastTransitionTime: '2020-01-01T00:00:00Z',
          reason: 'R',
          message: 'm & m',
        },
      ],
    },
  ),
}

for (const [name, object] of Object.entries(rows)) {
  test(`${name}: nothing is lost on the way to the older version and back`, () => {
    const old = autoscalerConversion.fromStored(object) as Parameters<typeof autoscalerConversion.toStored>[0]
    assert.equal(old.apiVersion, 'autoscaling/v1')
    assert.deepEqual(autoscalerConversion.toStored(old), object)
  })
}

test('annotations that say nothing are ignored, and none of them is stored', () => {
  for (const text of ['', '[', '{}', 'null', '[5]', '[{"type":5}]', '[{"type":"Resource","resource":{"name":{}}}]']) {
    const name = (end: string) => `autoscaling.alpha.kubernetes.io/${end}`
    const annotations = {
      kept: 'yes',
      ...Object.fromEntries(['metrics', 'behavior', 'conditions'].map((end) => [name(end), text])),
    }
    const spec = { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 50 }
    const found = autoscalerConversion.toStored({
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', annotations },
      spec,
    })
    assert.deepEqual(found.spec, { scaleTargetRef, maxReplicas: 5, metrics: [cpu] }, text)
    assert.deepEqual(found.metadata.annotations, { kept: 'yes' })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HorizontalPodAutoscaler, MetricSpec } from '../../../model/generated/api-groups.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import type { UsageReading } from './compute-proposal.ts'
import { computeScalingDecision } from './compute-scaling-decision.ts'
import type { ScalingDecision, DecisionInput } from './compute-scaling-decision.ts'

const now = Date.UTC(2026, 0, 2)
const startTime = toApiTime(now - 3_600_000)
const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: startTime }]
const requests = { cpu: '100m', memory: '1Mi' }
const pods = ['a', 'b'].map((name) =>
  livePod(
    { name },
    { phase: 'Running', startTime, conditions },
    {
      containers: [
        { name: 'c', image: 'i', resources: { requests } },
        { name: 'd', image: 'i', resources: { requests } },
      ],
    },
  ),
)
/** What the containers c and d of both pods use, in thousandths of a core. */
const usage = (c: number, d: number): ReadonlyMap<string, UsageReading> =>
  new Map(
    pods.map(({ metadata }) => [
      metadata.name,
      {
        time: now,
        windowMs: 15_000,
        containers: new Map([
          ['c', new Map([['cpu', BigInt(c)]])],
          ['d', new Map([['cpu', BigInt(d)]])],
        ]),
      },
    ]),
  )
const cpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
}
const memory: MetricSpec = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Mi' } },
}
const ofContainer: MetricSpec = {
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } },
}
const metric = { name: 'requests' }
const perPod: MetricSpec = { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '1' } } }
const ofObject: MetricSpec = {
  type: 'Object',
  object: { metric, describedObject: { kind: 'Service', name: 's' }, target: { type: 'Value', value: '1' } },
}
const external: MetricSpec = { type: 'External', external: { metric, target: { type: 'Value', value: '1' } } }

const autoscaler = (metrics: readonly MetricSpec[]): Live<HorizontalPodAutoscaler> => ({
  metadata: { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1' },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, minReplicas: 1, maxReplicas: 10, metrics },
})
const decide = (metrics: readonly MetricSpec[], input: Partial<DecisionInput> = {}): ScalingDecision =>
  computeScalingDecision({
    autoscaler: autoscaler(metrics),
    current: 2,
    selection: { pods },
    usage: usage(50, 50),
    history: { recommendations: [], added: [], removed: [] },
    now,
    at: 0,
    ...input,
  })
const shown = ({ desired, rescale, conditions: all, warnings }: ScalingDecision) => ({
  desired,
  rescale,
  conditions: all.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  warnings: warnings.map(({ reason }) => reason),
})
const active = (reason: string) => ['AbleToScale=True SucceededGetScale', `ScalingActive=False ${reason}`]
const found = [
  'AbleToScale=True ReadyForNewScale',
  'ScalingActive=True ValidMetricFound',
  'ScalingLimited=False DesiredWithinRange',
]
const gotScale = ['AbleToScale=True SucceededGetScale']
const failure = (reason: string) => ({
  desired: undefined,
  rescale: undefined,
  conditions: active(reason),
  warnings: [reason, 'FailedComputeMetricsReplicas'],
})
const above = 'cpu resource utilization (percentage of request) above target'

describe('computeScalingDecision()', () => {
  for (const [name, decision, expected] of [
    ['nothing to do', decide([cpu]), { desired: 2, rescale: undefined, conditions: found, warnings: [] }],
    ['more', decide([cpu], { usage: usage(100, 50) }), { desired: 3, rescale: above, conditions: found, warnings: [] }],
    [
      'fewer',
      decide([cpu], { usage: usage(10, 10) }),
      { desired: 1, rescale: 'All metrics below target', conditions: found, warnings: [] },
    ],
    [
      'the container that counts',
      decide([ofContainer], { usage: usage(100, 0) }),
      {
        desired: 4,
        rescale: 'cpu container resource utilization (percentage of request) above target',
        conditions: found,
        warnings: [],
      },
    ],
    [
      'the largest of several',
      decide([ofContainer, cpu], { usage: usage(0, 200) }),
      { desired: 4, rescale: above, conditions: found, warnings: [] },
    ],
    [
      'one that fails beside one that asks for more',
      decide([memory, cpu], { usage: usage(100, 100) }),
      { desired: 4, rescale: above, conditions: found, warnings: ['FailedGetResourceMetric'] },
    ],
    [
      'one that fails beside one that asks for fewer',
      decide([memory, cpu], { usage: usage(10, 10) }),
      failure('FailedGetResourceMetric'),
    ],
    ['no usage', decide([cpu], { usage: new Map() }), failure('FailedGetResourceMetric')],
    ['usage that cannot be read', decide([cpu], { usage: new Error('away') }), failure('FailedGetResourceMetric')],
    [
      'a container without usage',
      decide([ofContainer], { usage: new Map() }),
      failure('FailedGetContainerResourceMetric'),
    ],
    ['a metric of pods', decide([perPod]), failure('FailedGetPodsMetric')],
    ['a metric of an object', decide([ofObject]), failure('FailedGetObjectMetric')],
    ['a metric from elsewhere', decide([external]), failure('FailedGetExternalMetric')],
    [
      'a target of no pods',
      decide([cpu], { current: 0 }),
      { desired: 0, rescale: undefined, conditions: active('ScalingDisabled'), warnings: [] },
    ],
    [
      'a target that is too large, whatever the metrics say',
      decide([perPod], { current: 12 }),
      { desired: 10, rescale: 'Current number of replicas above Spec.MaxReplicas', conditions: gotScale, warnings: [] },
    ],
    [
      'a target that is too small',
      decide([cpu], { autoscaler: { ...autoscaler([cpu]), spec: { ...autoscaler([cpu]).spec, minReplicas: 3 } } }),
      { desired: 3, rescale: 'Current number of replicas below Spec.MinReplicas', conditions: gotScale, warnings: [] },
    ],
    [
      'pods that two autoscalers have',
      decide([cpu], { selection: { event: 'AmbiguousSelector', reason: 'AmbiguousSelector', message: 'm' } }),
      failure('AmbiguousSelector'),
    ],
    [
      'the first time nothing shrinks',
      decide([cpu], { usage: usage(10, 10), history: undefined }),
      {
        desired: 2,
        rescale: undefined,
        conditions: ['AbleToScale=True ScaleDownStabilized', ...found.slice(1)],
        warnings: [],
      },
    ],
  ] as const) {
    test(name, () => assert.deepEqual(shown(decision), expected))
  }

  test('says why a metric gave no number, and shows the others', () => {
    const { warnings, conditions: all, currentMetrics } = decide([perPod, cpu], { usage: usage(10, 10) })
    const why =
      'unable to get metric requests: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'
    assert.deepEqual(
      warnings.map(({ message }) => message),
      [why, `invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: ${why}`],
    )
    assert.equal(all[1]?.message, `the HPA was unable to compute the replica count: ${why}`)
    const current = { averageUtilization: 10, averageValue: '20m' }
    assert.deepEqual(currentMetrics, [{ type: '' }, { type: 'Resource', resource: { name: 'cpu', current } }])
  })
})

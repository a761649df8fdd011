import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
} from '../../../../model/generated/api-groups.ts'
import { autoscalerColumns } from '../../columns/autoscaler-columns.ts'
import { autoscalerRules } from './autoscaler-rules.ts'

const good: HorizontalPodAutoscalerSpec = {
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  maxReplicas: 3,
}
const make = (spec: Partial<HorizontalPodAutoscalerSpec>) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: { ...good, ...spec },
})
const problemsOf = (spec: Partial<HorizontalPodAutoscalerSpec>) => {
  const object = make(spec)
  const filled = autoscalerRules.fillDefaults?.(object) ?? object
  return [...(autoscalerRules.validate?.(filled) ?? []), ...(autoscalerRules.validateCreate?.(filled) ?? [])].map(
    ({ path, rule }) => `${path.toString()}: ${rule}`,
  )
}
const target = { type: 'Utilization', averageUtilization: 50 }
const cpu = { name: 'cpu', target }
const resource = (changes: object): MetricSpec => ({ type: 'Resource', resource: { ...cpu, ...changes } })
const rules = (scaleUp: HPAScalingRules) => ({ behavior: { scaleUp } })

describe('autoscalerRules', () => {
  for (const [name, spec, expected] of [
    ['a good one', {}, []],
    [
      'a minimum of 0',
      { minReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'no maximum',
      { maxReplicas: 0, minReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.maxReplicas: Required value: must be set and greater than 0',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'a minimum above the maximum',
      { minReplicas: 4 },
      ['spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`'],
    ],
    [
      'a target without a group',
      { scaleTargetRef: { apiVersion: 'v1', kind: 'Deployment', name: 'web' } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
    ],
    [
      'a target without a name',
      { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: '' } },
      ['spec.scaleTargetRef.name: Required value'],
    ],
    [
      'an unknown type',
      { metrics: [{ type: 'Other', resource: cpu }] },
      [
        'spec.metrics[0].type: Unsupported value: "Other": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      ],
    ],
    [
      'a source that is not there',
      { metrics: [{ type: 'Resource' }] },
      ['spec.metrics[0].resource: Required value: must populate information for the given metric source'],
    ],
    [
      'two sources',
      { metrics: [{ type: 'Resource', resource: cpu, containerResource: { ...cpu, container: 'c' } }] },
      ['spec.metrics[0].containerResource: Forbidden: must populate the given metric source only'],
    ],
    [
      'no target',
      { metrics: [resource({ target: { type: 'Utilization' } })] },
      [
        'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
      ],
    ],
    [
      'two targets',
      { metrics: [resource({ target: { ...target, averageValue: '1' } })] },
      [
        'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
      ],
    ],
    [
      'a target of nothing',
      { metrics: [resource({ target: { type: 'AverageValue', averageValue: '0' } })] },
      ['spec.metrics[0].resource.target.averageValue: Invalid value: "0": must be positive'],
    ],
    [
      'a resource that containers do not have',
      { metrics: [{ type: 'ContainerResource', containerResource: { ...cpu, name: 'strange', container: 'c' } }] },
      [
        'spec.metrics[0].containerResource.name: Invalid value: "strange": must be a standard resource for containers or fully qualified',
      ],
    ],
    [
      'no container',
      { metrics: [{ type: 'ContainerResource', containerResource: { ...cpu, container: '' } }] },
      ['spec.metrics[0].containerResource.container: Required value: must specify a container'],
    ],
    [
      'pods without an average',
      { metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'Value' } } }] },
      ['spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue'],
    ],
    [
      'a window that is too long',
      rules({ stabilizationWindowSeconds: 3601 }),
      ['spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600'],
    ],
    [
      'no policies',
      rules({ policies: [] }),
      ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
    ],
    [
      'a bad policy',
      rules({ policies: [{ type: 'Some', value: 0, periodSeconds: 1801 }] }),
      [
        'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Some": supported values: "Percent", "Pods"',
        'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
        'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      ],
    ],
    [
      'an unknown choice',
      rules({ selectPolicy: 'Any' }),
      ['spec.behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"'],
    ],
    [
      'a negative tolerance',
      rules({ tolerance: '-1' }),
      ['spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0'],
    ],
  ] as const) {
    test(name, () => assert.deepEqual(problemsOf(spec), expected))
  }

  test('fills what is absent', () => {
    const filled = autoscalerRules.fillDefaults?.(make(rules({ tolerance: '0.5' })))
    assert.equal(filled?.spec.minReplicas, 1)
    assert.deepEqual(filled.spec.metrics?.[0]?.resource?.target, { type: 'Utilization', averageUtilization: 80 })
    const policies = [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ]
    assert.deepEqual(filled.spec.behavior, {
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies, tolerance: '0.5' },
      scaleDown: { selectPolicy: 'Max', policies: policies.slice(1) },
    })
  })

  test('shows two targets, and how many more there are', () => {
    const metrics = [resource({}), resource({ target: { type: 'AverageValue', averageValue: '1' } }), resource({})]
    const current = { averageUtilization: 7 }
    const status = {
      desiredReplicas: 2,
      currentReplicas: 2,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current } }],
    }
    const cells = autoscalerColumns.cells({ ...make({ metrics }), status }, 0)
    const targets = 'cpu: 7%/50%, cpu: <unknown>/1 + 1 more...'
    assert.deepEqual(cells, ['web', 'Deployment/web', targets, '<unset>', 3, 2, '<unknown>'])
  })
})

import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricSpec,
} from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { tryParseQuantity } from '../../../../model/resources/quantity.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { withoutRoundTrip } from './autoscaler-annotations.ts'
import { validateMetric, validateCrossVersionReference } from './autoscaler-metrics.ts'

const SPEC = FieldPath.root.child('spec')
const STATUS = FieldPath.root.child('status')
const LONGEST_WINDOW = 3600
const LONGEST_PERIOD = 1800

const DEFAULT_METRIC: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
}
const UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const DOWN: HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

export const autoscalerRules: ResourceRules<ObjectOf<HorizontalPodAutoscaler>> = {
  fillDefaults: ({ spec, metadata, ...autoscaler }) => ({
    ...autoscaler,
    metadata: withoutRoundTrip(metadata),
    spec: fillSpec(spec),
  }),
  prepareCreate: (autoscaler) => ({ ...autoscaler, status: { desiredReplicas: 0 } }),
  validate: ({ spec }) => validateSpec(spec),
  validateCreate: ({ spec }) => validateTarget(spec),
  validateUpdate: ({ spec }, { spec: before }) => {
    const { apiVersion, kind } = spec.scaleTargetRef
    // One that was taken before stays good.
    const isSame = before.scaleTargetRef.apiVersion === apiVersion && before.scaleTargetRef.kind === kind
    return isSame ? [] : validateTarget(spec)
  },
  validateStatus: ({ status }) => {
    const problems = new ProblemList()
    problems.notNegative(STATUS.child('currentReplicas'), status?.currentReplicas)
    problems.notNegative(STATUS.child('desiredReplicas'), status?.desiredReplicas)
    return problems.violations
  },
}

function fillSpec(spec: HorizontalPodAutoscalerSpec): HorizontalPodAutoscalerSpec {
  const { minReplicas = 1, metrics = [], behavior } = spec
  const filled = { ...spec, minReplicas, metrics: metrics.length === 0 ? [DEFAULT_METRIC] : metrics }
  if (behavior === undefined) return filled
  return {
    ...filled,
    behavior: { scaleUp: fillRules(UP, behavior.scaleUp), scaleDown: fillRules(DOWN, behavior.scaleDown) },
  }
}

function fillRules(defaults: HPAScalingRules, rules: HPAScalingRules = {}): HPAScalingRules {
  const given = Object.entries(rules).filter(([, value]) => value !== undefined)
  return { ...defaults, ...(Object.fromEntries(given) as HPAScalingRules) }
}

function validateSpec({ minReplicas, maxReplicas, metrics = [], behavior }: HorizontalPodAutoscalerSpec) {
  const problems = new ProblemList()
  if (minReplicas !== undefined && minReplicas < 1)
    problems.invalid(SPEC.child('minReplicas'), minReplicas, 'must be greater than or equal to 1')
  const path = SPEC.child('maxReplicas')
  if (maxReplicas === 0) problems.required(path, 'must be set and greater than 0')
  else if (maxReplicas < 0) problems.invalid(path, maxReplicas, 'must be greater than or equal to 1')
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    problems.invalid(path, maxReplicas, 'must be greater than or equal to `minReplicas`')
  for (const [index, metric] of metrics.entries()) validateMetric(metric, SPEC.child('metrics').index(index), problems)
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    problems.forbidden(
      SPEC.child('metrics'),
      'must specify at least one Object or External metric to support scaling to zero replicas',
    )
  for (const side of ['scaleUp', 'scaleDown'] as const) {
    const rules = behavior?.[side]
    if (rules !== undefined) validateRules(rules, SPEC.child('behavior').child(side), problems)
  }
  return problems.violations
}

function validateTarget({ scaleTargetRef }: HorizontalPodAutoscalerSpec) {
  const problems = new ProblemList()
  validateCrossVersionReference(scaleTargetRef, SPEC.child('scaleTargetRef'), problems, {
    needsGroup: scaleTargetRef.kind !== 'ReplicationController',
  })
  return problems.violations
}

function validateRules(rules: HPAScalingRules, path: FieldPath, problems: ProblemList): void {
  const { stabilizationWindowSeconds: seconds = 0, selectPolicy, policies = [], tolerance } = rules
  const window = path.child('stabilizationWindowSeconds')
  if (seconds < 0) problems.invalid(window, seconds, 'must be greater than or equal to zero')
  if (seconds > LONGEST_WINDOW) problems.invalid(window, seconds, `must be less than or equal to ${LONGEST_WINDOW}`)
  const supported = ['Disabled', 'Max', 'Min']
  if (selectPolicy !== undefined && !supported.includes(selectPolicy))
    problems.unsupported(path.child('selectPolicy'), selectPolicy, supported)
  if (policies.length === 0) problems.required(path.child('policies'), 'must specify at least one Policy')
  for (const [index, policy] of policies.entries())
    validatePolicy(policy, path.child('policies').index(index), problems)
  if ((tryParseQuantity(tolerance ?? '0')?.nanos ?? 0n) < 0n)
    problems.invalid(path.child('tolerance'), tolerance, 'must be greater than or equal to 0')
}

function validatePolicy(
  { type, value, periodSeconds }: HPAScalingPolicy,
  path: FieldPath,
  problems: ProblemList,
): void {
  const supported = ['Percent', 'Pods']
  if (!supported.includes(type)) problems.unsupported(path.child('type'), type, supported)
  if (value <= 0) problems.invalid(path.child('value'), value, 'must be greater than zero')
  const period = path.child('periodSeconds')
  if (periodSeconds <= 0) problems.invalid(period, periodSeconds, 'must be greater than zero')
  if (periodSeconds > LONGEST_PERIOD)
    problems.invalid(period, periodSeconds, `must be less than or equal to ${LONGEST_PERIOD}`)
}

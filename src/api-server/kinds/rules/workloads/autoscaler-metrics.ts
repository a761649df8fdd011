import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ResourceMetricSource,
} from '../../../../model/generated/api-groups.ts'
import { tryParseQuantity } from '../../../../model/resources/quantity.ts'
import type { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel } from '../../../../model/schema/validation/name-rules.ts'
import type { NameRule, ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { validateContainerResourceName } from '../../../../model/schema/validation/validate-resources.ts'

const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'] as const
const TYPES: Readonly<Record<string, (typeof SOURCES)[number]>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}

const segment: NameRule = (value) => {
  if (value === '.' || value === '..') return `may not be '${value}'`
  const found = ['/', '%'].find((each) => value.includes(each))
  return found === undefined ? undefined : `may not contain '${found}'`
}

/** One metric of an autoscaler: the source that its type names and no other, with a target that fits. */
export function validateMetric(metric: MetricSpec, path: FieldPath, problems: ProblemList): void {
  const { type } = metric
  const wanted = TYPES[type]
  if (!type) problems.required(path.child('type'), 'must specify a metric source type')
  if (wanted === undefined) problems.unsupported(path.child('type'), type, Object.keys(TYPES))
  else if (metric[wanted] === undefined)
    problems.required(path.child(wanted), 'must populate information for the given metric source')
  const present = SOURCES.filter((source) => metric[source] !== undefined)
  const [first] = present
  if (first !== undefined) validateSource(metric, first, path.child(first), problems)
  if (present.length === 1 && first === wanted) return
  for (const source of present)
    if (source !== wanted && present.length > 1)
      problems.forbidden(path.child(source), 'must populate the given metric source only')
}

/** A reference to an object of any kind. */
export function validateCrossVersionReference(
  { kind, name, apiVersion = '' }: CrossVersionObjectReference,
  path: FieldPath,
  problems: ProblemList,
  { needsGroup }: { readonly needsGroup: boolean },
): void {
  problems.name(path.child('kind'), kind, segment)
  problems.name(path.child('name'), name, segment)
  const parts = apiVersion.split('/')
  if (parts.length > 2)
    problems.invalid(path.child('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
  else if (needsGroup && (parts.length < 2 || parts[0] === ''))
    problems.invalid(path.child('apiVersion'), apiVersion, 'apiVersion must specify API group')
}

function validateSource(
  { object, external, pods, resource, containerResource }: MetricSpec,
  source: (typeof SOURCES)[number],
  path: FieldPath,
  problems: ProblemList,
): void {
  const target = path.child('target')
  if (source === 'object' && object !== undefined) {
    validateCrossVersionReference(object.describedObject, path.child('describedObject'), problems, {
      needsGroup: false,
    })
    validateIdentifier(object.metric, path.child('metric'), problems)
    validateTarget(object.target, target, problems)
    if (object.target.value === undefined && object.target.averageValue === undefined)
      problems.required(target.child('averageValue'), 'must set either a target value or averageValue')
  }
  if (source === 'external' && external !== undefined) {
    const { value, averageValue } = external.target
    validateIdentifier(external.metric, path.child('metric'), problems)
    validateTarget(external.target, target, problems)
    if (value === undefined && averageValue === undefined)
      problems.required(target.child('averageValue'), 'must set either a target value for metric or a per-pod target')
    if (value !== undefined && averageValue !== undefined)
      problems.forbidden(target.child('value'), 'may not set both a target value for metric and a per-pod target')
  }
  if (source === 'pods' && pods !== undefined) {
    validateIdentifier(pods.metric, path.child('metric'), problems)
    validateTarget(pods.target, target, problems)
    if (pods.target.averageValue === undefined)
      problems.required(target.child('averageValue'), 'must specify a positive target averageValue')
  }
  if (source === 'resource' && resource !== undefined) validateResource(resource, path, problems)
  if (source === 'containerResource' && containerResource !== undefined)
    validateContainerResource(containerResource, path, problems)
}

function validateContainerResource(
  source: ContainerResourceMetricSource,
  path: FieldPath,
  problems: ProblemList,
): void {
  if (source.name) validateContainerResourceName(source.name, path.child('name'), problems)
  if (source.container) problems.matches(path.child('container'), source.container, dnsLabel)
  else problems.required(path.child('container'), 'must specify a container')
  validateResource(source, path, problems)
}

function validateResource({ name, target }: ResourceMetricSource, path: FieldPath, problems: ProblemList): void {
  if (!name) problems.required(path.child('name'), 'must specify a resource name')
  const place = path.child('target')
  validateTarget(target, place, problems)
  const { averageUtilization, averageValue } = target
  if (averageUtilization === undefined && averageValue === undefined)
    problems.required(place.child('averageUtilization'), 'must set either a target raw value or a target utilization')
  if (averageUtilization !== undefined && averageValue !== undefined)
    problems.forbidden(place.child('averageValue'), 'may not set both a target raw value and a target utilization')
}

function validateTarget(target: MetricTarget, path: FieldPath, problems: ProblemList): void {
  const { type, averageUtilization } = target
  if (!type) problems.required(path.child('type'), 'must specify a metric target type')
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    problems.invalid(path.child('type'), type, 'must be either Utilization, Value, or AverageValue')
  for (const field of ['value', 'averageValue'] as const) {
    const text = target[field]
    if (text !== undefined && (tryParseQuantity(text)?.nanos ?? 0n) <= 0n)
      problems.invalid(path.child(field), text, 'must be positive')
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    problems.invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0')
}

/** Parity: the selector of a metric is for its source to judge. */
function validateIdentifier({ name }: MetricIdentifier, path: FieldPath, problems: ProblemList): void {
  if (name) problems.matches(path.child('name'), name, segment)
  else problems.required(path.child('name'), 'must specify a metric name')
}

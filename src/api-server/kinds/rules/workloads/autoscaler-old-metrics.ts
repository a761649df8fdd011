import { isRecord } from '../../../../base/document/is-record.ts'
import type { MetricSpec, MetricStatus } from '../../../../model/generated/api-groups.ts'
import type { LabelSelector } from '../../../../model/generated/core-v1.ts'
import { tryParseQuantity } from '../../../../model/resources/quantity.ts'

type Fields = Readonly<Record<string, unknown>>

// Fields that this form cannot leave out have a zero.
const NOTHING = '0'

/** A metric as the annotation of autoscaling/v1 has it: flat, the fields in this order. */
export function toOldMetric({ type, object, pods, resource, containerResource, external }: MetricSpec): object {
  return present({
    type,
    object: object && {
      target: toReference(object.describedObject),
      metricName: object.metric.name,
      targetValue: object.target.value ?? NOTHING,
      selector: selectorOf(object.metric.selector),
      averageValue: object.target.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? NOTHING,
      selector: selectorOf(pods.metric.selector),
    },
    resource: resource && {
      name: resource.name,
      targetAverageUtilization: resource.target.averageUtilization,
      targetAverageValue: resource.target.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      targetAverageUtilization: containerResource.target.averageUtilization,
      targetAverageValue: containerResource.target.averageValue,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: selectorOf(external.metric.selector),
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  })
}

/** What was measured, likewise. */
export function toOldMetricStatus({ type, object, pods, resource, containerResource, external }: MetricStatus): object {
  return present({
    type,
    object: object && {
      target: toReference(object.describedObject),
      metricName: object.metric.name,
      currentValue: object.current.value ?? NOTHING,
      selector: selectorOf(object.metric.selector),
      averageValue: object.current.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? NOTHING,
      selector: selectorOf(pods.metric.selector),
    },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current.averageUtilization,
      currentAverageValue: resource.current.averageValue ?? NOTHING,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current.averageUtilization,
      currentAverageValue: containerResource.current.averageValue ?? NOTHING,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: selectorOf(external.metric.selector),
      currentValue: external.current.value ?? NOTHING,
      currentAverageValue: external.current.averageValue,
    },
  })
}

/** A metric of an annotation in the stored form, to be checked against its schema. */
export function fromOldMetric(metric: Fields): Fields {
  const [object, pods, external] = [partOf(metric, 'object'), partOf(metric, 'pods'), partOf(metric, 'external')]
  return present({
    type: metric['type'],
    object: object && {
      describedObject: object['target'],
      metric: present({ name: object['metricName'], selector: object['selector'] }),
      target: objectTarget(object),
    },
    pods: pods && {
      metric: present({ name: pods['metricName'], selector: pods['selector'] }),
      target: present({ type: 'AverageValue', averageValue: pods['targetAverageValue'] }),
    },
    resource: resourceOf(metric['resource']),
    containerResource: resourceOf(metric['containerResource']),
    external: external && {
      metric: present({ name: external['metricName'], selector: external['metricSelector'] }),
      target: present({
        type: external['targetValue'] === undefined ? 'AverageValue' : 'Value',
        value: external['targetValue'],
        averageValue: external['targetAverageValue'],
      }),
    },
  })
}

/** What was measured, likewise. */
export function fromOldMetricStatus(status: Fields): Fields {
  const [object, pods, external] = [partOf(status, 'object'), partOf(status, 'pods'), partOf(status, 'external')]
  return present({
    type: status['type'],
    object: object && {
      describedObject: object['target'],
      metric: present({ name: object['metricName'], selector: object['selector'] }),
      current: present({ value: object['currentValue'], averageValue: object['averageValue'] }),
    },
    pods: pods && {
      metric: present({ name: pods['metricName'], selector: pods['selector'] }),
      current: present({ averageValue: pods['currentAverageValue'] }),
    },
    resource: resourceStatusOf(status['resource']),
    containerResource: resourceStatusOf(status['containerResource']),
    external: external && {
      metric: present({ name: external['metricName'], selector: external['metricSelector'] }),
      current: present({ value: external['currentValue'], averageValue: external['currentAverageValue'] }),
    },
  })
}

/** A zero beside an average is there because the old form has no way to leave it out. */
function objectTarget({ targetValue, averageValue }: Fields): Fields {
  if (averageValue === undefined) return present({ type: 'Value', value: targetValue ?? NOTHING })
  const isZero = typeof targetValue !== 'string' || tryParseQuantity(targetValue)?.nanos === 0n
  return present({ type: 'AverageValue', value: isZero ? undefined : targetValue, averageValue })
}

function resourceOf(resource: unknown): Fields | undefined {
  if (!isRecord(resource)) return undefined
  const { name, container, targetAverageUtilization, targetAverageValue } = resource
  const type = targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization'
  const target = present({ type, averageUtilization: targetAverageUtilization, averageValue: targetAverageValue })
  return present({ name, container, target })
}

function resourceStatusOf(resource: unknown): Fields | undefined {
  if (!isRecord(resource)) return undefined
  const { name, container, currentAverageUtilization, currentAverageValue } = resource
  const current = present({ averageUtilization: currentAverageUtilization, averageValue: currentAverageValue })
  return present({ name, container, current })
}

function partOf(fields: Fields, name: string): Fields | undefined {
  const part = fields[name]
  return isRecord(part) ? part : undefined
}

function toReference({ kind, name, apiVersion }: { kind: string; name: string; apiVersion?: string | undefined }) {
  return present({ kind, name, apiVersion: apiVersion || undefined })
}

function selectorOf(selector: LabelSelector | undefined): object | undefined {
  return selector && present({ matchLabels: selector.matchLabels, matchExpressions: selector.matchExpressions })
}

/** The fields that have a value. */
function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

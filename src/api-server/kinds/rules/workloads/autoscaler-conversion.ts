import { parseJson } from '../../../../base/document/parse-json.ts'
import type { DocumentValue } from '../../../../base/document/document-value.ts'
import { isRecord } from '../../../../base/document/is-record.ts'
import type {
  AutoscalingV1HorizontalPodAutoscaler,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
} from '../../../../model/generated/api-groups.ts'
import { apiTypes } from '../../../../model/schema/api-types.ts'
import { decodeObject } from '../../../../model/schema/decode-object.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { goJson } from '../../../../model/text/go-json.ts'
import type { ApiObject, ObjectOf } from '../../../store/api-object.ts'
import { BEHAVIOR, CONDITIONS, CURRENT_METRICS, METRICS, withoutRoundTrip } from './autoscaler-annotations.ts'
import { fromOldMetric, fromOldMetricStatus, toOldMetric, toOldMetricStatus } from './autoscaler-old-metrics.ts'

type Stored = ObjectOf<HorizontalPodAutoscaler>
type Old = ObjectOf<AutoscalingV1HorizontalPodAutoscaler>
type Fields = Readonly<Record<string, unknown>>

/**
 * autoscaling/v1 knows the utilization of CPU alone. What else a stored autoscaler says is in annotations there, in the form that
 * upstream gives them, so that a client of that version which reads an object and writes it again loses nothing.
 */
export const autoscalerConversion = {
  fromStored: ({ spec, status, ...object }: Stored): ApiObject => {
    const { metrics = [], behavior, ...same } = spec
    const { currentMetrics = [], conditions = [], ...counts } = status ?? { desiredReplicas: 0 }
    const target = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization
    const current = currentMetrics.findLast(hasCpuUtilization)?.resource?.current.averageUtilization
    const others = metrics.filter((metric) => !isCpuUtilization(metric))
    const metadata = withoutRoundTrip(object.metadata)
    const annotations = {
      ...metadata.annotations,
      ...(others.length > 0 && { [METRICS]: goJson(others.map(toOldMetric)) }),
      ...(currentMetrics.length > 0 && { [CURRENT_METRICS]: goJson(currentMetrics.map(toOldMetricStatus)) }),
      ...(behavior !== undefined && { [BEHAVIOR]: formatBehavior(behavior) }),
      ...(conditions.length > 0 && { [CONDITIONS]: goJson(conditions.map(toOldCondition)) }),
    }
    return {
      ...object,
      apiVersion: 'autoscaling/v1',
      metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
      spec: { ...same, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
      status: {
        ...counts,
        currentReplicas: counts.currentReplicas ?? 0,
        ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
      },
    }
  },
  toStored: ({ spec, status, ...object }: Old): Stored => {
    const { targetCPUUtilizationPercentage: target, ...same } = spec
    const annotations = object.metadata.annotations ?? {}
    const own = target === undefined ? [] : [cpuMetric(target)]
    const others = readList(annotations[METRICS], 'MetricSpec', fromOldMetric) as readonly MetricSpec[] | undefined
    const behavior = readBehavior(annotations[BEHAVIOR])
    return {
      ...object,
      apiVersion: 'autoscaling/v2',
      metadata: withoutRoundTrip(object.metadata),
      spec: { ...same, metrics: [...(others ?? []), ...own], ...(behavior !== undefined && { behavior }) },
      ...(status !== undefined && { status: toStoredStatus(status, annotations) }),
    }
  },
}

function toStoredStatus(
  { currentCPUUtilizationPercentage: current, ...counts }: NonNullable<Old['status']>,
  annotations: Readonly<Record<string, string>>,
): NonNullable<Stored['status']> {
  const own: readonly MetricStatus[] = [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } },
  ]
  const said = readList(annotations[CURRENT_METRICS], 'MetricStatus', fromOldMetricStatus) as
    | readonly MetricStatus[]
    | undefined
  const currentMetrics = said ?? (current === undefined ? undefined : own)
  const conditions = readList(annotations[CONDITIONS], 'HorizontalPodAutoscalerCondition', (each) => each) as
    | readonly HorizontalPodAutoscalerCondition[]
    | undefined
  return {
    ...counts,
    ...(currentMetrics !== undefined && { currentMetrics }),
    ...(conditions !== undefined && { conditions }),
  }
}

function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }
}

function isCpuUtilization({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined
}

function hasCpuUtilization({ type, resource }: MetricStatus): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.current.averageUtilization !== undefined
}

function toOldCondition(condition: HorizontalPodAutoscalerCondition): object {
  const { type, status, lastTransitionTime = null, reason, message } = condition
  return { type, status, lastTransitionTime, ...(reason && { reason }), ...(message && { message }) }
}

/** The one annotation whose names begin with capitals. */
function formatBehavior({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string {
  return goJson({ ScaleUp: formatRules(scaleUp), ScaleDown: formatRules(scaleDown) })
}

function formatRules(rules: HPAScalingRules | undefined): object | null {
  if (rules === undefined) return null
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = rules
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies:
      policies?.map(({ type, value, periodSeconds }) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ??
      null,
    Tolerance: tolerance,
  }
}

function readBehavior(text: string | undefined): HorizontalPodAutoscalerBehavior | undefined {
  const value = lowerNames(parse(text))
  const behavior = decode(value, 'HorizontalPodAutoscalerBehavior') as HorizontalPodAutoscalerBehavior | undefined
  return behavior !== undefined && Object.keys(behavior).length > 0 ? behavior : undefined
}

function lowerNames(value: DocumentValue | undefined): DocumentValue | undefined {
  if (Array.isArray(value)) return (value as readonly DocumentValue[]).map((each) => lowerNames(each) ?? null)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [
    name.charAt(0).toLowerCase() + name.slice(1),
    lowerNames(each) ?? null,
  ])
  return Object.fromEntries(entries) as DocumentValue
}

/** The items of an annotation in the stored form; undefined when it is absent, or is none of ours and so says nothing. */
function readList(
  text: string | undefined,
  typeName: string,
  convert: (item: Fields) => Fields,
): readonly Fields[] | undefined {
  const value = parse(text)
  if (!Array.isArray(value)) return undefined
  const items = (value as readonly DocumentValue[]).map((item) =>
    isRecord(item) ? decode(convert(item) as DocumentValue, typeName) : undefined,
  )
  return items.every((item) => item !== undefined) ? items : undefined
}

function parse(text: string | undefined): DocumentValue | undefined {
  try {
    return text === undefined ? undefined : parseJson(text).value
  } catch {
    return undefined
  }
}

function decode(value: DocumentValue | undefined, typeName: string): Fields | undefined {
  if (!isRecord(value)) return undefined
  const decoded = decodeObject(value, typeName, FieldPath.root, apiTypes)
  return decoded.errors.length === 0 ? decoded.value : undefined
}

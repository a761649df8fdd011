import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '../../../model/generated/api-groups.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { ageOf, columnsOf } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

const UNKNOWN = '<unknown>'
// So many metrics are shown with their targets.
const MOST_SHOWN = 2

/** The rows of `kubectl get horizontalpodautoscalers`. */
export const autoscalerColumns: TableColumns<ObjectOf<HorizontalPodAutoscaler>> = {
  columns: columnsOf('Name', 'Reference', 'Targets', 'MinPods', 'MaxPods', 'Replicas', 'Age'),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
      formatTargets(spec.metrics ?? [], status?.currentMetrics ?? []),
      String(spec.minReplicas ?? '<unset>'),
      spec.maxReplicas,
      status?.currentReplicas ?? 0,
      ageOf(object, now),
    ]
  },
}

function formatTargets(metrics: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (metrics.length === 0) return '<none>'
  const shown = metrics.slice(0, MOST_SHOWN).map((metric, index) => formatTarget(metric, statuses[index]))
  const more = metrics.length > MOST_SHOWN ? ` + ${metrics.length - MOST_SHOWN} more...` : ''
  return `${shown.join(', ')}${more}`
}

function formatTarget(metric: MetricSpec, status: MetricStatus | undefined): string {
  const measured = metric.resource ?? metric.containerResource
  if (measured !== undefined) {
    const current = (status?.resource ?? status?.containerResource)?.current
    const { averageValue, averageUtilization } = measured.target
    return averageValue === undefined
      ? `${measured.name}: ${percent(current?.averageUtilization) ?? UNKNOWN}/${percent(averageUtilization) ?? '<auto>'}`
      : `${measured.name}: ${current?.averageValue ?? UNKNOWN}/${averageValue}`
  }
  if (metric.pods !== undefined)
    return `${status?.pods?.current.averageValue ?? UNKNOWN}/${metric.pods.target.averageValue ?? ''}`
  const target = (metric.object ?? metric.external)?.target
  const current = (status?.object ?? status?.external)?.current
  if (target === undefined) return '<unknown type>'
  return target.averageValue === undefined
    ? `${current?.value ?? UNKNOWN}/${target.value ?? ''}`
    : `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`
}

function percent(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}%`
}

import type { CronJob, Job } from '../../../model/generated/api-groups.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { formatSelector } from '../rules/workloads/scale-subresource.ts'
import { ageOf, columnsOf, humanDuration, timeSince } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'
import { templateCells } from './workload-columns.ts'

const WIDE = ['Containers:wide', 'Images:wide', 'Selector:wide']

/** The rows of `kubectl get jobs`. */
export const jobColumns: TableColumns<ObjectOf<Job>> = {
  columns: columnsOf('Name', 'Status', 'Completions', 'Duration', 'Age', ...WIDE),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      statusOf(object),
      `${status?.succeeded ?? 0}/${completionsOf(object)}`,
      durationOf(object, now),
      ageOf(object, now),
      ...templateCells(spec?.template),
      formatSelector(spec?.selector),
    ]
  },
}

function statusOf({ metadata, status }: ObjectOf<Job>): string {
  const has = (wanted: string) =>
    status?.conditions?.some(({ type, status: value }) => type === wanted && value === 'True') === true
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  return (['Suspended', 'FailureTarget', 'SuccessCriteriaMet'] as const).find(has) ?? 'Running'
}

function completionsOf({ spec }: ObjectOf<Job>): string {
  if (spec?.completions !== undefined) return String(spec.completions)
  const { parallelism = 1 } = spec ?? {}
  return parallelism > 1 ? `1 of ${parallelism}` : '1'
}

function durationOf({ status }: ObjectOf<Job>, now: number): string {
  const began = Date.parse(status?.startTime ?? '')
  if (Number.isNaN(began)) return ''
  const ended = Date.parse(status?.completionTime ?? '')
  return humanDuration((Number.isNaN(ended) ? now : ended) - began)
}

/** The rows of `kubectl get cronjobs`. */
export const cronJobColumns: TableColumns<ObjectOf<CronJob>> = {
  columns: columnsOf('Name', 'Schedule', 'Timezone', 'Suspend', 'Active:integer', 'Last Schedule', 'Age', ...WIDE),
  cells: (object, now) => {
    const { spec, status } = object
    return [
      object.metadata.name ?? '',
      spec.schedule,
      spec.timeZone ?? '<none>',
      spec.suspend === true ? 'True' : 'False',
      status?.active?.length ?? 0,
      status?.lastScheduleTime === undefined ? '<none>' : timeSince(status.lastScheduleTime, now),
      ageOf(object, now),
      ...templateCells(spec.jobTemplate.spec?.template),
      formatSelector(spec.jobTemplate.spec?.selector),
    ]
  },
}

import type { Event } from '../../../model/generated/core-v1.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import { columnsOf, timeSince } from '../table-columns.ts'
import type { TableColumns } from '../table-columns.ts'

/** The rows of `kubectl get events`, of an event in its stored form. */
export const eventColumns: TableColumns<ObjectOf<Event>> = {
  columns: columnsOf(
    'Last Seen',
    'Type',
    'Reason',
    'Object',
    'Subobject:wide',
    'Source:wide',
    'Message',
    'First Seen:wide',
    'Count:wide',
    'Name:wide',
  ),
  cells: (event, now) => {
    const { first, last } = timesOf(event, now)
    const about = event.involvedObject
    return [
      last,
      event.type ?? '',
      event.reason ?? '',
      `${(about.kind ?? '').toLowerCase()}${about.name ? `/${about.name}` : ''}`,
      about.fieldPath ?? '',
      sourceOf(event),
      (event.message ?? '').trim(),
      first,
      event.series?.count ?? event.count ?? 1,
      event.metadata.name ?? '',
    ]
  },
}

function timesOf(event: Event, now: number): { first: string; last: string } {
  const first = timeSince(event.firstTimestamp ?? event.eventTime, now)
  if (event.series?.lastObservedTime !== undefined)
    return { first, last: timeSince(event.series.lastObservedTime, now) }
  const last = event.lastTimestamp === undefined ? first : timeSince(event.lastTimestamp, now)
  return { first, last }
}

function sourceOf(event: Event): string {
  const component = event.source?.component || event.reportingComponent
  const host = event.source?.host || event.reportingInstance
  return [component, host].filter(Boolean).join(', ')
}

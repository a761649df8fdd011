import type { Event } from '../../model/generated/core-v1.ts'
import type { EventRow } from './page-message.ts'

/** An event as the page lists it. */
export function computeEventRow({ metadata, involvedObject, series, ...event }: Event): EventRow {
  return {
    uid: metadata.uid ?? '',
    type: event.type ?? 'Normal',
    reason: event.reason ?? '',
    message: event.message ?? '',
    at:
      series?.lastObservedTime ??
      event.lastTimestamp ??
      event.eventTime ??
      event.firstTimestamp ??
      metadata.creationTimestamp ??
      '',
    count: series?.count ?? event.count ?? 1,
    kind: involvedObject.kind ?? '',
    namespace: involvedObject.namespace ?? '',
    name: involvedObject.name ?? '',
    container: /\{(.+)\}$/.exec(involvedObject.fieldPath ?? '')?.[1] ?? '',
  }
}

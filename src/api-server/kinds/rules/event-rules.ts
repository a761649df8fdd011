import type { EventsEvent } from '../../../model/generated/api-groups.ts'
import type { Event, ObjectReference } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject, ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, SelectableFields } from '../resource.ts'

type StoredEvent = ObjectOf<Event>

export const eventRules: ResourceRules<StoredEvent> = {
  validate: ({ metadata, involvedObject }) => {
    const problems = new ProblemList()
    const about = involvedObject.namespace || 'default'
    if (metadata.namespace !== about) {
      const path = FieldPath.root.child('involvedObject').child('namespace')
      problems.invalid(path, about, 'must be the namespace of the event')
    }
    return problems.violations
  },
}

/** Events have two groups and one storage, whose form is the core's. */
export const eventConversion = {
  toStored: (event: ObjectOf<EventsEvent>): StoredEvent => {
    const { regarding = {}, note, reportingController, ...others } = event
    const { deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...same } = others
    return {
      ...same,
      apiVersion: 'v1',
      involvedObject: regarding,
      message: note,
      reportingComponent: reportingController,
      source: deprecatedSource,
      firstTimestamp: deprecatedFirstTimestamp,
      lastTimestamp: deprecatedLastTimestamp,
      count: deprecatedCount,
    }
  },
  fromStored: (event: StoredEvent): ApiObject => {
    const { involvedObject, message, reportingComponent, source, firstTimestamp, lastTimestamp, count, ...same } = event
    const sent = {
      ...same,
      apiVersion: 'events.k8s.io/v1',
      regarding: involvedObject,
      note: message,
      reportingController: reportingComponent,
      deprecatedSource: source,
      deprecatedFirstTimestamp: firstTimestamp,
      deprecatedLastTimestamp: lastTimestamp,
      deprecatedCount: count,
    }
    return sent
  },
}

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const

/** The fields that events can be selected by, under the names of either group. */
export const eventFields: SelectableFields<StoredEvent> = {
  reason: ({ reason }) => reason,
  type: ({ type }) => type,
  source: ({ source, reportingComponent }) => source?.component || reportingComponent,
  reportingComponent: ({ reportingComponent }) => reportingComponent,
  reportingController: ({ reportingComponent }) => reportingComponent,
  ...referenceFields('involvedObject'),
  ...referenceFields('regarding'),
}

function referenceFields(name: string): SelectableFields<StoredEvent> {
  const read = (field: keyof ObjectReference) => (event: StoredEvent) => event.involvedObject[field]
  return Object.fromEntries(REFERENCE_FIELDS.map((field) => [`${name}.${field}`, read(field)]))
}

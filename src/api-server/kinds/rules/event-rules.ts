import type { EventsEvent } from '../../../model/generated/api-groups.ts'
import type { Event, ObjectReference } from '../../../model/generated/core-v1.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { qualifiedName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject, ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, SelectableFields } from '../resource.ts'

type StoredEvent = ObjectOf<Event>

const ROOT = FieldPath.root
const LONGEST = 128
const LONGEST_NOTE = 1024
/** An event in the new form stays as it was; only how often it happened may change. */
const LASTING = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
] as const

/** Events of the core group, which programs of any age write. */
export const eventRules: ResourceRules<StoredEvent> = {
  validate: (event) => validateEvent(event, 'reportingComponent').violations,
}

/** Those of the newer group are in its form alone. */
export const newEventRules: ResourceRules<StoredEvent> = {
  validate: (event) => validateEvent(event, 'reportingController').violations,
  validateCreate: (event) => {
    const problems = new ProblemList()
    if (!event.eventTime) problems.required(ROOT.child('eventTime'))
    if (event.type !== 'Normal' && event.type !== 'Warning')
      problems.invalid(ROOT.child('type'), event.type ?? '', 'must be Normal or Warning')
    for (const field of ['firstTimestamp', 'lastTimestamp', 'count', 'source'] as const) {
      const value = event[field]
      if (value && !sameValue(value, {})) problems.invalid(ROOT.child(field), value, 'needs to be unset')
    }
    validateSeries(event, problems)
    return problems.violations
  },
  validateUpdate: (event, before) => {
    const problems = new ProblemList()
    for (const field of LASTING) checkSame(field, event[field], before[field])
    checkSame('reportingController', event.reportingComponent, before.reportingComponent)
    checkSame('reportingInstance', event.reportingInstance, before.reportingInstance)
    if (!sameValue(event.series, before.series)) validateSeries(event, problems)
    return problems.violations

    function checkSame(field: string, value: unknown, old: unknown): void {
      if (!sameValue(value ?? '', old ?? '')) problems.invalid(ROOT.child(field), value, 'field is immutable')
    }
  },
}

function validateSeries({ series }: StoredEvent, problems: ProblemList): void {
  if (series === undefined) return
  const path = ROOT.child('series')
  if ((series.count ?? 0) < 2) problems.invalid(path.child('count'), series.count, 'should be at least 2')
  if (!series.lastObservedTime) problems.required(path.child('lastObservedTime'))
}

/** An event with a time of microseconds is of the new form, whichever group it comes by. */
function validateEvent(event: StoredEvent, controllerField: string): ProblemList {
  const problems = new ProblemList()
  const { metadata, involvedObject, eventTime, reportingComponent = '', reportingInstance = '' } = event
  const about = ROOT.child('involvedObject').child('namespace')
  const namespace = metadata.namespace ?? ''
  if (!eventTime) {
    if (namespace !== (involvedObject.namespace || 'default'))
      problems.invalid(about, involvedObject.namespace, 'must be the namespace of the event')
    return problems
  }
  if (!involvedObject.namespace && !['default', 'kube-system'].includes(namespace))
    problems.invalid(about, '', 'must be the namespace of the event')
  if (reportingComponent === '') problems.required(ROOT.child(controllerField))
  problems.matches(ROOT.child(controllerField), reportingComponent, qualifiedName)
  for (const [field, value] of Object.entries({ reportingInstance, action: event.action, reason: event.reason })) {
    if (!value) problems.required(ROOT.child(field))
    else if (Buffer.byteLength(value) > LONGEST)
      problems.invalid(ROOT.child(field), '', `can have at most ${LONGEST} characters`)
  }
  if (Buffer.byteLength(event.message ?? '') > LONGEST_NOTE)
    problems.invalid(ROOT.child('message'), '', `can have at most ${LONGEST_NOTE} characters`)
  return problems
}

/** Events have two groups and one storage, whose form is the core's. */
export const eventConversion = {
  toStored: (event: ObjectOf<EventsEvent>): StoredEvent => {
    const { regarding = {}, note, reportingController, ...others } = event
    const { deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...same } = others
    return presentFields({
      ...same,
      apiVersion: 'v1',
      involvedObject: regarding,
      message: note,
      reportingComponent: reportingController,
      source: deprecatedSource,
      firstTimestamp: deprecatedFirstTimestamp,
      lastTimestamp: deprecatedLastTimestamp,
      count: deprecatedCount,
    })
  },
  fromStored: (event: StoredEvent): ApiObject => {
    const { involvedObject, message, reportingComponent, source, firstTimestamp, lastTimestamp, count, ...same } = event
    return presentFields({
      ...same,
      apiVersion: 'events.k8s.io/v1',
      regarding: involvedObject,
      note: message,
      reportingController: reportingComponent,
      deprecatedSource: source,
      deprecatedFirstTimestamp: firstTimestamp,
      deprecatedLastTimestamp: lastTimestamp,
      deprecatedCount: count,
    })
  },
}

/** Leaves out fields that are undefined: code that reads a patched event would take them for values. */
function presentFields<T extends object>(event: T): T {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined)) as T
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

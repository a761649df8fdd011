import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { Event } from '../../../model/generated/core-v1.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'

// Fields that the two groups call by different names: events.k8s.io, core.
const NAMES: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
]

export const eventRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    const about = (object as unknown as Event).involvedObject.namespace || 'default'
    if (object.metadata.namespace !== about) {
      const path = FieldPath.root.child('involvedObject').child('namespace')
      problems.invalid(path, about, 'must be the namespace of the event')
    }
    return problems.violations
  },
}

/** Events have two groups and one storage, whose form is the core's. */
export const eventConversion = {
  toStored: (object: ApiObject): ApiObject => ({ involvedObject: {}, ...rename(object, NAMES), apiVersion: 'v1' }),
  fromStored: (object: ApiObject): ApiObject => ({
    ...rename(
      object,
      NAMES.map(([newer, core]) => [core, newer]),
    ),
    apiVersion: 'events.k8s.io/v1',
  }),
}

function rename(object: ApiObject, names: readonly (readonly [from: string, to: string])[]): ApiObject {
  const result: Record<string, unknown> = { ...object }
  for (const [from, to] of names) {
    const value = result[from]
    delete result[from]
    if (value !== undefined) result[to] = value
  }
  return result as unknown as ApiObject
}

/** What events can be selected by, under the names of either group. */
export function eventFields(object: ApiObject): Readonly<Record<string, string>> {
  const event = object as unknown as Event
  const about = event.involvedObject ?? {}
  const fields: Record<string, string> = {
    reason: event.reason ?? '',
    type: event.type ?? '',
    source: event.source?.component || event.reportingComponent || '',
    reportingComponent: event.reportingComponent ?? '',
    reportingController: event.reportingComponent ?? '',
  }
  for (const name of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const) {
    fields[`involvedObject.${name}`] = about[name] ?? ''
    fields[`regarding.${name}`] = about[name] ?? ''
  }
  return fields
}

import type { EventInput } from '../../protocols/kube-api/events/event-factory.ts'
import type { KubeObject } from '../../protocols/kube-api/list-watch/kube-object.ts'
import type { ApiKind } from './api-objects.ts'
import type { Live } from './live-object.ts'

/** Says on an object what was done, for its users. */
export type RecordEvent = (
  object: Live<KubeObject>,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
) => void

/** The events of one controller about objects of one kind. */
export function createObjectEvents(
  record: (input: EventInput) => void,
  component: string,
  { apiVersion, kind }: ApiKind,
): RecordEvent {
  return ({ metadata }, type, reason, message) => {
    const { namespace, name, uid, resourceVersion } = metadata
    // What belongs to no namespace has its events in the default one.
    const place = namespace === '' ? {} : { namespace }
    const involvedObject = { kind, apiVersion, ...place, name, uid, resourceVersion }
    record({ involvedObject, type, reason, message, component })
  }
}

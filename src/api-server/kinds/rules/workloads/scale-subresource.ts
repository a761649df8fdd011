import type { Scale } from '../../../../model/generated/api-groups.ts'
import type { LabelSelector } from '../../../../model/generated/core-v1.ts'
import type { ApiObject, ObjectOf } from '../../../store/api-object.ts'
import type { ExpectedType, Subresource } from '../../resource.ts'

const SCALE: ExpectedType<'Scale'> = { group: 'autoscaling', version: 'v1', kind: 'Scale', typeName: 'Scale' }

interface Scalable extends ApiObject {
  readonly spec?: { readonly replicas?: number | undefined; readonly selector?: LabelSelector | undefined } | undefined
  readonly status?: { readonly replicas?: number | undefined } | undefined
}

/** The number of replicas of an object, whatever its kind: what autoscalers and `kubectl scale` read and write. */
export const scale = {
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  kind: SCALE,
  convert: {
    fromObject: (object: Scalable): ObjectOf<Scale> => {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: object.spec?.replicas ?? 1 },
        status: { replicas: object.status?.replicas ?? 0, selector: formatSelector(object.spec?.selector) },
      }
    },
    toObject: (sent: ApiObject, before: Scalable): Scalable => {
      const { replicas = 0 } = (sent as ObjectOf<Scale>).spec ?? {}
      const { uid, resourceVersion } = sent.metadata
      return { ...before, metadata: { ...before.metadata, uid, resourceVersion }, spec: { ...before.spec, replicas } }
    },
  },
} satisfies Subresource<Scalable>

/** A selector as the text that clients select by. */
export function formatSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const sets = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.toSorted().join(',')})`
  })
  return [...pairs, ...sets].sort().join(',')
}

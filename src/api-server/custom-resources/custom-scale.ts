import { isRecord } from '../../base/document/is-record.ts'
import { setKey } from '../../base/document/position-index.ts'
import type { CustomResourceSubresourceScale, Scale } from '../../model/generated/api-groups.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { badRequest, internalError, invalid } from '../api-error.ts'
import type { Subresource } from '../kinds/resource.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'

/** The number of replicas of a custom resource, at the places that its definition names. */
export function customScale(paths: CustomResourceSubresourceScale): Subresource {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths
  return {
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    replicasPath: stepsOf(specReplicasPath),
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale', typeName: 'Scale' },
    convert: {
      fromObject: (object): ObjectOf<Scale> => {
        const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
        const replicas = readAt(object, specReplicasPath)
        if (typeof replicas !== 'number') {
          throw internalError(`the spec replicas field "${specReplicasPath}" does not exist`)
        }
        const current = readAt(object, statusReplicasPath)
        const selector = labelSelectorPath ? readAt(object, labelSelectorPath) : undefined
        return {
          kind: 'Scale',
          apiVersion: 'autoscaling/v1',
          metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
          spec: { replicas },
          status: {
            replicas: typeof current === 'number' ? current : 0,
            ...(typeof selector === 'string' && { selector }),
          },
        }
      },
      toObject: (sent, before) => {
        const { spec } = sent as ObjectOf<Scale>
        if (spec === undefined) throw badRequest(`the spec replicas field "${specReplicasPath}" cannot be empty`)
        if ((spec.replicas ?? 0) < 0) {
          const problems = new ProblemList()
          problems.notNegative(FieldPath.root.child('spec').child('replicas'), spec.replicas)
          throw invalid({ group: 'autoscaling', kind: 'Scale', name: before.metadata.name ?? '' }, problems.violations)
        }
        const { uid, resourceVersion } = sent.metadata
        const changed = writeAt(before, stepsOf(specReplicasPath), spec.replicas ?? 0) as ApiObject
        return { ...changed, metadata: { ...before.metadata, uid, resourceVersion } }
      },
    },
  }
}

/** ".spec.replicas": the steps to a value. */
function stepsOf(path: string): readonly string[] {
  return path.split('.').slice(1)
}

/** The value at a path of plain names. */
export function readAt(object: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (value, step) => (isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined),
    object,
  )
}

function writeAt(value: unknown, [first, ...rest]: readonly string[], written: unknown): unknown {
  if (first === undefined) return written
  const record = isRecord(value) ? value : {}
  const result = { ...record }
  setKey(result, first, writeAt(record[first], rest, written))
  return result
}

import type { Pod } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ExpectedType, Subresource, SubresourcePath } from '../../resource.ts'
import { sameValue } from '../../../../base/document/same-value.ts'
import { specOf, validateExistingPod } from './pod-rules.ts'

const SPEC = FieldPath.root.child('spec')

/** Containers for debugging: they can be added, and never changed or taken away. */
export const ephemeralContainers: Subresource<ObjectOf<Pod>> = {
  name: 'ephemeralcontainers',
  verbs: ['get', 'patch', 'update'],
  merge: (object, before) => ({
    ...before,
    metadata: { ...before.metadata, resourceVersion: object.metadata.resourceVersion },
    spec: { ...specOf(before), ephemeralContainers: specOf(object).ephemeralContainers },
  }),
  validate: (object, before) => {
    const problems = new ProblemList()
    const now = specOf(object).ephemeralContainers ?? []
    for (const old of specOf(before).ephemeralContainers ?? []) {
      const same = now.find(({ name }) => name === old.name)
      const path = SPEC.child('ephemeralContainers')
      if (same === undefined) problems.forbidden(path, `"${old.name}" cannot be removed`)
      else if (!sameValue(same, old)) {
        problems.forbidden(path, `"${old.name}" cannot be changed`)
      }
    }
    return [...problems.violations, ...validateExistingPod(object)]
  },
}

export const BINDING: ExpectedType<'Binding'> = { group: '', version: 'v1', kind: 'Binding', typeName: 'Binding' }

export const EVICTION: ExpectedType<'Eviction'> = {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  typeName: 'Eviction',
}

/** A scheduler's decision on where a pod runs. */
export const binding: SubresourcePath = { name: 'binding', verbs: ['create'], kind: BINDING }

/** A deletion of a pod that a disruption budget may reject. */
export const eviction: SubresourcePath = { name: 'eviction', verbs: ['create'], kind: EVICTION }

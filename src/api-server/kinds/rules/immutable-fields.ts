import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../model/schema/validation/problem-list.ts'
import { sameValue } from '../../../base/document/same-value.ts'

type UpdateRule<T> = (object: T, before: T) => readonly Violation[]

/** A rule for updates: a part of the object cannot change. */
export function immutablePart<K extends string>(part: K): UpdateRule<Readonly<Partial<Record<K, unknown>>>> {
  return (object, before) => {
    const problems = new ProblemList()
    if (!sameValue(object[part], before[part])) {
      problems.invalid(FieldPath.root.child(part), object[part], 'field is immutable')
    }
    return problems.violations
  }
}

/** A rule for updates: some fields of the spec cannot change. */
export function immutableSpecFields<K extends string>(
  fields: readonly K[],
): UpdateRule<{ readonly spec: Readonly<Partial<Record<K, unknown>>> }> {
  return (object, before) =>
    fields.flatMap((field) => {
      const problems = new ProblemList()
      const value = object.spec[field]
      if (!sameValue(value, before.spec[field])) {
        problems.invalid(FieldPath.root.child('spec').child(field), value, 'field is immutable')
      }
      return problems.violations
    })
}

import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import { sameValue } from '../same-value.ts'

/** A rule for updates: these fields of a part of the object stay as they were made; without a list, the whole part. */
export function immutableFields(
  part: string,
  fields?: readonly string[],
): (object: ApiObject, before: ApiObject) => readonly Violation[] {
  return (object, before) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child(part)
    const rule = 'field is immutable'
    if (fields === undefined) {
      if (!sameValue(object[part], before[part])) problems.invalid(path, object[part], rule)
      return problems.violations
    }
    for (const field of fields) {
      const [now, old] = [object[part], before[part]].map(
        (each) => (each as Record<string, unknown> | undefined)?.[field],
      )
      if (!sameValue(now, old)) problems.invalid(path.child(field), now, rule)
    }
    return problems.violations
  }
}

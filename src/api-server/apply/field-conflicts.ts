import { formatPath } from './field-set.ts'
import type { ElementPath, FieldSet } from './field-set.ts'
import { identityOf } from './managed-fields.ts'
import type { FieldOwner } from './managed-fields.ts'

/** A field that another manager owns with another value. */
export interface FieldConflict {
  readonly owner: FieldOwner
  readonly path: ElementPath
}

/** An apply that would change what others own. */
export class FieldConflictError extends Error {
  override readonly name = 'FieldConflictError'
  readonly conflicts: readonly FieldConflict[]

  constructor(conflicts: readonly FieldConflict[]) {
    super(describeConflicts(conflicts))
    this.conflicts = conflicts
  }
}

export function conflictsWith(owner: FieldOwner, fields: FieldSet): readonly FieldConflict[] {
  return [...fields.paths()].map((path) => ({ owner, path }))
}

/** As clients know it; kubectl shows it as it is. */
function describeConflicts(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts
  if (conflicts.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${describeOwner(first.owner)}: ${formatPath(first.path)}`
  }
  const byOwner = [...Map.groupBy(conflicts, ({ owner }) => identityOf(owner))].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const lines = byOwner.flatMap(([, group]) => [
    ...group.slice(0, 1).map(({ owner }) => `conflicts with ${describeOwner(owner)}:`),
    ...group.map(({ path }) => `- ${formatPath(path)}`),
  ])
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

export function describeOwner({ manager, operation, apiVersion, subresource }: FieldOwner): string {
  const place = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(manager)}${place}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

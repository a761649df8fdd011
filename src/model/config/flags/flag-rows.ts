import { CONFIGURATION_GROUPS } from '../kubelet-configuration.ts'
import type { Field, FieldFlag, Fields } from '../kinds/field.ts'
import { IGNORED_FLAG_FIELDS } from './ignored-flags.ts'
import { FLAG_GROUPS } from './kubelet-flags.ts'

/** A flag, and where its value goes. */
export interface FlagRow {
  readonly group: string
  readonly target: 'configuration' | 'flags' | 'nowhere'
  readonly path: readonly string[]
  readonly field: Field<unknown>
  readonly flag: FieldFlag<unknown>
}

function collectRows(
  fields: Fields,
  place: Pick<FlagRow, 'group' | 'target'>,
  parents: readonly string[] = [],
): readonly FlagRow[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...parents, name]
    if (field.fields !== undefined) return collectRows(field.fields, place, path)
    return field.flag === undefined ? [] : [{ ...place, path, field, flag: field.flag }]
  })
}

/** Every flag that we know; made again at each call, so keep it. */
export function listFlagRows(): readonly FlagRow[] {
  return [
    ...FLAG_GROUPS.flatMap(([group, fields]) => collectRows(fields, { group, target: 'flags' })),
    ...CONFIGURATION_GROUPS.flatMap(([group, fields]) => collectRows(fields, { group, target: 'configuration' })),
    ...collectRows(IGNORED_FLAG_FIELDS, { group: 'Deprecated: cAdvisor', target: 'nowhere' }),
  ]
}

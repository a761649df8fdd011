import { formatExactJson } from '../../base/document/exact-json.ts'
import type { CustomResourceColumnDefinition } from '../../model/generated/api-groups.ts'
import { humanDuration } from '../kinds/table-columns.ts'
import type { Column, TableColumns } from '../kinds/table-columns.ts'
import { compileJsonPath } from './json-path.ts'

type Cell = ReturnType<TableColumns['cells']>[number]

const AGE: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: '',
  jsonPath: '.metadata.creationTimestamp',
}
const NAME: Column = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }

/** The name, then the columns of the definition; only how old it is when there are none. */
export function customColumns(definitions: readonly CustomResourceColumnDefinition[] | undefined): TableColumns {
  const shown = definitions?.length ? definitions : [AGE]
  const readers = shown.map(({ jsonPath, type }) => ({ read: compileJsonPath(jsonPath), type }))
  return {
    columns: [
      NAME,
      ...shown.map(({ name, type, format = '', description = '', priority = 0 }) => {
        return { name, type, format, description, priority }
      }),
    ],
    cells: (object, now) => [
      object.metadata.name ?? '',
      ...readers.map(({ read, type }) => toCell(read?.(object) ?? [], type, now)),
    ],
  }
}

function toCell(values: readonly unknown[], type: string, now: number): Cell {
  const [value] = values
  if (value === undefined || value === null) return null
  switch (type) {
    case 'integer':
      return typeof value === 'number' || typeof value === 'bigint' ? Math.trunc(Number(value)) : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date': {
      const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
      return Number.isNaN(at) ? '<invalid>' : humanDuration(now - at)
    }
    default:
      return values.map(toText).join(' ')
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (formatExactJson(value) ?? '')
}

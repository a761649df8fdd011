import { setKey } from '../../base/document/position-index.ts'
import { apiTypes } from './api-types.ts'
import type { ValueType } from './object-type.ts'
import { omittedWhenZero } from './protobuf/wire-format.ts'

type Values = Readonly<Record<string, unknown>>

/**
 * Leaves out what the API leaves out: fields that do not distinguish zero from absent. Two clients of which one writes "hostNetwork: false"
 * and the other nothing mean the same object.
 */
export function dropZeros(object: Values, typeName: string): Values {
  const omitted = omittedWhenZero(typeName)
  const fields = apiTypes.fieldsOf(typeName)
  const result = {}
  for (const [name, value] of Object.entries(object)) {
    const type = fields.get(name)?.type
    if (type === undefined) setKey(result, name, value)
    else if (!omitted.has(name) || !isZero(value, type)) setKey(result, name, dropInside(value, type))
  }
  return result
}

function dropInside(value: unknown, type: ValueType): unknown {
  if (typeof value !== 'object' || value === null) return value
  switch (type.kind) {
    case 'object':
      return dropZeros(value as Values, type.name)
    case 'list':
      return (value as readonly unknown[]).map((item) => dropInside(item, type.of))
    case 'map': {
      if (type.of.kind === 'scalar') return value
      const result = {}
      for (const [key, item] of Object.entries(value)) setKey(result, key, dropInside(item, type.of))
      return result
    }
    case 'scalar':
      return value
  }
}

/** Objects stay even when they are empty. */
function isZero(value: unknown, type: ValueType): boolean {
  switch (type.kind) {
    case 'scalar':
      return type.name === 'Quantity' || type.name === 'IntOrString'
        ? false
        : value === '' || value === 0 || value === false
    case 'list':
      return (value as readonly unknown[]).length === 0
    case 'map':
      return Object.keys(value as object).length === 0
    case 'object':
      return false
  }
}

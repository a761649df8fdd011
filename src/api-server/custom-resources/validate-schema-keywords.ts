import type { FieldPath } from '../../model/schema/field-path.ts'
import type { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { COMBINATORS, itemsOf, valuesOf } from './schema.ts'
import type { Schema } from './schema.ts'
import { validateListType, validateMapType } from './validate-list-type.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
/** Keywords that are refused wherever they stand. */
const UNSUPPORTED = ['$ref', 'id', 'definitions', 'dependencies', 'patternProperties', 'additionalItems'] as const

interface Place {
  readonly isRoot?: boolean
  /** Why there may be no default. */
  readonly noDefault?: string
}

/** Keywords one by one, in the schema and in all that it has. */
export function validateKeywords(schema: Schema, path: FieldPath, place: Place, problems: ProblemList): void {
  for (const keyword of UNSUPPORTED) {
    if (schema[keyword] !== undefined) problems.forbidden(path.child(keyword), `${keyword} is not supported`)
  }
  if (schema.uniqueItems === true) {
    problems.forbidden(
      path.child('uniqueItems'),
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    )
  }
  const { type = '' } = schema
  if (type === 'null')
    problems.forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative')
  if (type !== '' && !TYPES.includes(type)) problems.unsupported(path.child('type'), type, TYPES)
  if (schema.default !== undefined && place.noDefault !== undefined)
    problems.forbidden(path.child('default'), place.noDefault)
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    problems.invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined')
  }
  if (Array.isArray(schema.items))
    problems.forbidden(path.child('items'), 'items must be a schema object and not an array')
  const hasFields = Object.keys(schema.properties ?? {}).length > 0
  if (hasFields && valuesOf(schema) !== undefined && valuesOf(schema) !== true) {
    problems.forbidden(path.child('additionalProperties'), 'additionalProperties and properties are mutual exclusive')
  }
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) {
    problems.forbidden(path.child('x-kubernetes-validations'), 'validation rules are not supported by this server')
  }
  validateListType(schema, path, problems)
  validateMapType(schema, path, problems)
  for (const [name, inner, at] of partsOf(schema, path)) {
    const isMeta = name !== undefined && place.isRoot === true && ['metadata', 'kind', 'apiVersion'].includes(name)
    const noDefault = isMeta ? `must not be set in top-level ${name}` : place.noDefault
    validateKeywords(inner, at, noDefault === undefined ? {} : { noDefault }, problems)
  }
}

function partsOf(
  schema: Schema,
  path: FieldPath,
): readonly (readonly [name: string | undefined, part: Schema, at: FieldPath])[] {
  const items = itemsOf(schema)
  const values = valuesOf(schema)
  return [
    ...Object.entries(schema.properties ?? {}).map(
      ([name, part]) => [name, part, path.child('properties').key(name)] as const,
    ),
    ...(items === undefined ? [] : [[undefined, items, path.child('items')] as const]),
    ...(typeof values === 'object' ? [[undefined, values, path.child('additionalProperties')] as const] : []),
    ...(schema.not === undefined ? [] : [[undefined, schema.not, path.child('not')] as const]),
    ...COMBINATORS.flatMap((choice) =>
      (schema[choice] ?? []).map((part, index) => [undefined, part, path.child(choice).index(index)] as const),
    ),
  ]
}

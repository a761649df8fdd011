import { isRecord } from '../../base/document/is-record.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../model/schema/validation/problem-list.ts'
import { compilePattern } from './match-pattern.ts'
import { isEmbedded, isIntOrString, itemsOf, keepsUnknown, valuesOf } from './schema.ts'
import type { Schema } from './schema.ts'
import { fillObject, hasUnknownFields } from './shape-value.ts'
import { validateValue } from './validate-value.ts'

type Level = 'root' | 'field' | 'item'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const SCALARS = ['boolean', 'integer', 'number', 'string']
/** Keywords that are refused wherever they stand. */
const UNSUPPORTED = ['$ref', 'id', 'definitions', 'dependencies', 'patternProperties', 'additionalItems'] as const
/** What a root may have whose status is written by others. */
const ROOT_KEYWORDS = [
  'description',
  'example',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'externalDocs',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'multipleOf',
  'pattern',
  'properties',
  'required',
  'title',
  'type',
  'uniqueItems',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]
const TYPE_NAMES: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}
const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const
const EITHER = [{ type: 'integer' }, { type: 'string' }]

/** The rules that the schema of a version breaks. */
export function validateSchema(schema: Schema, hasStatus: boolean, path: FieldPath): readonly Violation[] {
  const problems = new ProblemList()
  if (schema.nullable === true) problems.forbidden(path.child('nullable'), 'nullable cannot be true at the root')
  if (hasStatus) validateRootKeywords(schema, path, problems)
  const structure = new ProblemList()
  validateStructure(schema, 'root', path, structure)
  validateNamed(schema, path, structure)
  problems.violations.push(...structure.violations)
  if (structure.violations.length === 0) validateDefaults(schema, true, path, problems)
  validateKeywords(schema, path, { isRoot: true }, problems)
  return problems.violations
}

function validateRootKeywords(schema: Schema, path: FieldPath, problems: ProblemList): void {
  const other = Object.keys(schema).find((name) => !ROOT_KEYWORDS.includes(name) && name !== 'nullable')
  if (other === undefined) return
  problems.invalid(
    path,
    other,
    `only ${ROOT_KEYWORDS.join(', ')} are allowed at the root if the status subresource is enabled`,
  )
}

/** What makes a schema one by which objects can be pruned and filled: each part says its type, once, outside of choices. */
function validateStructure(schema: Schema, level: Level, path: FieldPath, problems: ProblemList): void {
  const items = itemsOf(schema)
  const values = valuesOf(schema)
  if (schema.type === 'array' && schema.items === undefined) problems.required(path.child('items'), 'must be specified')
  if (items !== undefined) validateStructure(items, 'item', path.child('items'), problems)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    validateStructure(property, 'field', path.child('properties').key(name), problems)
  }
  if (values !== undefined && level === 'root') {
    problems.forbidden(path.child('additionalProperties'), 'must not be used at the root')
  }
  if (typeof values === 'object') validateStructure(values, 'field', path.child('additionalProperties'), problems)
  validateMarks(schema, path, problems)
  validateType(schema, level, path, problems)
  validateChoices(schema, path, problems, {
    isEither: sameValue(schema.anyOf, EITHER),
    isFirstEither: sameValue(schema.allOf?.[0]?.anyOf, EITHER),
  })
  if (level === 'root' || isEmbedded(schema)) validateObjectFields(schema, level, path, problems)
}

function validateMarks(schema: Schema, path: FieldPath, problems: ProblemList): void {
  if (isIntOrString(schema) && keepsUnknown(schema)) {
    problems.invalid(
      path.child('x-kubernetes-preserve-unknown-fields'),
      true,
      'must be false if x-kubernetes-int-or-string is true',
    )
  }
  if (isIntOrString(schema) && isEmbedded(schema)) {
    problems.invalid(
      path.child('x-kubernetes-embedded-resource'),
      true,
      'must be false if x-kubernetes-int-or-string is true',
    )
  }
  if (!isEmbedded(schema)) return
  if (valuesOf(schema) !== undefined) {
    problems.forbidden(path.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set')
  }
  if (!keepsUnknown(schema) && Object.keys(schema.properties ?? {}).length === 0) {
    problems.required(
      path.child('properties'),
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    )
  }
}

function validateType(schema: Schema, level: Level, path: FieldPath, problems: ProblemList): void {
  const at = path.child('type')
  const { type = '' } = schema
  if (isEmbedded(schema) && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    if (type === '') problems.required(at, why)
    else problems.invalid(at, type, why)
  } else if (type === '' && !isIntOrString(schema) && !keepsUnknown(schema)) problems.required(at, TYPE_NAMES[level])
  if (level === 'root' && type !== '' && type !== 'object') problems.invalid(at, type, 'must be object at the root')
}

/** Inside of choices only values are judged: nothing there says what a value is. */
function validateChoices(
  schema: Schema,
  path: FieldPath,
  problems: ProblemList,
  { isEither, isFirstEither }: { readonly isEither: boolean; readonly isFirstEither: boolean },
): void {
  for (const choice of COMBINATORS) {
    if (choice === 'anyOf' && isEither) continue
    for (const [index, each] of (schema[choice] ?? []).entries()) {
      const mayBeEither = choice === 'allOf' && index === 0 && isFirstEither
      validateNested(each, path.child(choice).index(index), problems, mayBeEither)
    }
  }
  if (schema.not !== undefined) validateNested(schema.not, path.child('not'), problems, false)
  if (schema.pattern && compilePattern(schema.pattern) === undefined) {
    problems.invalid(path.child('pattern'), schema.pattern, "must be a valid regular expression, but isn't")
  }
}

const FORBIDDEN_INSIDE: readonly (readonly [keyword: keyof Schema, why: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
]

function validateNested(schema: Schema, path: FieldPath, problems: ProblemList, mayBeEither: boolean): void {
  validateChoices(schema, path, problems, {
    isEither: mayBeEither && sameValue(schema.anyOf, EITHER),
    isFirstEither: false,
  })
  const items = itemsOf(schema)
  if (items !== undefined) validateNested(items, path.child('items'), problems, false)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    validateNested(property, path.child('properties').key(name), problems, false)
  }
  for (const [keyword, why] of FORBIDDEN_INSIDE) {
    if (schema[keyword] !== undefined) problems.forbidden(path.child(keyword), why)
  }
  if (schema.properties?.['metadata'] !== undefined) {
    problems.forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context')
  }
}

/** What is named inside of a choice at the root has to be there outside of it too. Parity: further down upstream does not check. */
function validateNamed(schema: Schema, path: FieldPath, problems: ProblemList): void {
  for (const choice of COMBINATORS) {
    for (const [index, each] of (schema[choice] ?? []).entries()) {
      requireNamed(schema, each, path, path.child(choice).index(index), problems)
    }
  }
  if (schema.not !== undefined) requireNamed(schema, schema.not, path, path.child('not'), problems)
}

function requireNamed(
  outer: Schema | undefined,
  inner: Schema,
  path: FieldPath,
  from: FieldPath,
  problems: ProblemList,
): void {
  const items = itemsOf(inner)
  if (items !== undefined) {
    const at = path.child('items')
    if (outer === undefined || itemsOf(outer) === undefined)
      problems.required(at, `because it is defined in ${from.child('items').toString()}`)
    else requireNamed(itemsOf(outer), items, at, from.child('items'), problems)
  }
  for (const [name, property] of Object.entries(inner.properties ?? {})) {
    const at = path.child('properties').key(name)
    const own = from.child('properties').key(name)
    const there = outer?.properties?.[name]
    if (there === undefined) problems.required(at, `because it is defined in ${own.toString()}`)
    else requireNamed(there, property, at, own, problems)
  }
  for (const choice of COMBINATORS) {
    for (const [index, each] of (inner[choice] ?? []).entries()) {
      requireNamed(outer, each, path, from.child(choice).index(index), problems)
    }
  }
  if (inner.not !== undefined) requireNamed(outer, inner.not, path, from.child('not'), problems)
}

/** What every object has is not described again, but for its name. */
function validateObjectFields(schema: Schema, level: Level, path: FieldPath, problems: ProblemList): void {
  const { properties = {} } = schema
  for (const name of ['kind', 'apiVersion']) {
    const type = properties[name]?.type
    if (properties[name] !== undefined && type !== 'string') {
      problems.invalid(path.child('properties').key(name).child('type'), type ?? '', 'must be string')
    }
  }
  const { metadata } = properties
  if (metadata === undefined) return
  const at = path.child('properties').key('metadata')
  if (metadata.type !== 'object') problems.invalid(at.child('type'), metadata.type ?? '', 'must be object')
  const { type: _, properties: fields = {}, default: _default, ...rest } = metadata
  const isName = Object.keys(fields).every((name) => name === 'name' || name === 'generateName')
  if (level === 'root' && (!isName || Object.keys(rest).length > 0)) {
    problems.forbidden(
      at,
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    )
  }
}

/** Defaults are values that the schema itself would take, whole. */
function validateDefaults(schema: Schema, isRoot: boolean, path: FieldPath, problems: ProblemList): void {
  if (schema.default !== undefined) {
    const at = path.child('default')
    if (hasUnknownFields(schema.default, schema, isRoot)) {
      problems.invalid(at, schema.default, 'must not have unknown fields')
    } else {
      const filled = isRecord(schema.default) ? fillObject(schema.default, schema) : schema.default
      problems.violations.push(...validateValue(filled, schema, at))
    }
  }
  const items = itemsOf(schema)
  if (items !== undefined) validateDefaults(items, false, path.child('items'), problems)
  const values = valuesOf(schema)
  if (typeof values === 'object') validateDefaults(values, false, path.child('additionalProperties'), problems)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    validateDefaults(property, false, path.child('properties').key(name), problems)
  }
}

interface Place {
  readonly isRoot?: boolean
  /** Why there may be no default. */
  readonly noDefault?: string
}

/** Keywords one by one, in the schema and in all that it has. */
function validateKeywords(schema: Schema, path: FieldPath, place: Place, problems: ProblemList): void {
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

const LIST_TYPES = ['atomic', 'map', 'set']
const MAP_TYPES = ['atomic', 'granular']

function validateMapType(schema: Schema, path: FieldPath, problems: ProblemList): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  if (schema.type !== 'object') {
    if (!schema.type) problems.required(path.child('type'), 'must be object if x-kubernetes-map-type is specified')
    else problems.invalid(path.child('type'), schema.type, 'must be object if x-kubernetes-map-type is specified')
  }
  if (!MAP_TYPES.includes(mapType)) problems.unsupported(path.child('x-kubernetes-map-type'), mapType, MAP_TYPES)
}

function validateListType(schema: Schema, path: FieldPath, problems: ProblemList): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const items = itemsOf(schema)
  if (listType !== undefined) {
    if (schema.type !== 'array') {
      const why = 'must be array if x-kubernetes-list-type is specified'
      if (!schema.type) problems.required(path.child('type'), why)
      else problems.invalid(path.child('type'), schema.type, why)
    }
    if (!LIST_TYPES.includes(listType)) problems.unsupported(path.child('x-kubernetes-list-type'), listType, LIST_TYPES)
  }
  if (keys.length > 0 && listType !== 'map') {
    const at = path.child('x-kubernetes-list-type')
    if (listType === undefined) problems.required(at, 'must be map if x-kubernetes-list-map-keys is non-empty')
    else problems.invalid(at, listType, 'must be map if x-kubernetes-list-map-keys is non-empty')
  }
  if (listType === 'set' && items !== undefined) validateSetItems(items, path.child('items'), problems)
  if (listType === 'map') validateKeys(items, keys, path, problems)
}

function validateSetItems(items: Schema, path: FieldPath, problems: ProblemList): void {
  if (items.nullable === true)
    problems.forbidden(path.child('nullable'), 'cannot be nullable when x-kubernetes-list-type is set')
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    problems.invalid(
      path.child('x-kubernetes-map-type'),
      items['x-kubernetes-map-type'] ?? '',
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    )
  }
  if (items.type === 'array' && !['atomic', undefined].includes(items['x-kubernetes-list-type'])) {
    problems.invalid(
      path.child('x-kubernetes-list-type'),
      items['x-kubernetes-list-type'],
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    )
  }
}

function validateKeys(
  items: Schema | undefined,
  keys: readonly string[],
  path: FieldPath,
  problems: ProblemList,
): void {
  const at = path.child('x-kubernetes-list-map-keys')
  if (keys.length === 0) problems.required(at, 'must not be empty if x-kubernetes-list-type is map')
  if (items === undefined)
    return problems.required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map')
  if (items.type !== 'object')
    problems.invalid(
      path.child('items').child('type'),
      items.type ?? '',
      "must be object if parent array's x-kubernetes-list-type is map",
    )
  if (items.nullable === true)
    problems.forbidden(path.child('items').child('nullable'), 'cannot be nullable when x-kubernetes-list-type is map')
  const seen = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) problems.invalid(at, keys, 'must not contain duplicate entries')
    seen.add(key)
    const property = items.properties?.[key]
    const field = path.child('items').child('properties').key(key)
    if (property === undefined) {
      if (items.type === 'object') problems.invalid(at, keys, 'entries must all be names of item properties')
      continue
    }
    if (!SCALARS.includes(property.type ?? '')) {
      problems.invalid(
        field.child('type'),
        property.type ?? '',
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      )
    }
    if (property.nullable === true)
      problems.forbidden(field.child('nullable'), 'cannot be nullable as a key of the list')
    if (property.default === undefined && items.required?.includes(key) !== true) {
      problems.required(
        field.child('default'),
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      )
    }
  }
}

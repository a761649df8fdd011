import { isRecord } from '../../base/document/is-record.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../model/schema/validation/problem-list.ts'
import { compilePattern } from './match-pattern.ts'
import { COMBINATORS, isEmbedded, isIntOrString, itemsOf, keepsUnknown, valuesOf } from './schema.ts'
import type { Schema } from './schema.ts'
import { fillObject, hasUnknownFields } from './shape-value.ts'
import { validateValue } from './validate-value.ts'
import { validateKeywords } from './validate-schema-keywords.ts'

type Level = 'root' | 'field' | 'item'

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

/** The fields of every object are not described again, except the name. */
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

import { formatExactJson } from '../../base/document/exact-json.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../model/schema/validation/problem-list.ts'
import { hasFormat } from './formats.ts'
import { matchesPattern } from './match-pattern.ts'
import { isEmbedded, isIntOrString, itemsOf, propertyOf, valuesOf } from './schema.ts'
import type { Schema } from './schema.ts'

/** Rules about several schemas at once are about no field. */
const NOWHERE = FieldPath.root.child('<nil>')

/** All rules of its schema that a value breaks. What is as it was before is not held against a change of something else. */
export function validateValue(
  value: unknown,
  schema: Schema,
  path = FieldPath.root,
  before?: { readonly value: unknown },
): readonly Violation[] {
  if (before !== undefined && sameValue(value, before.value)) return []
  if (value === null && schema.nullable === true) return []
  const type = typeOf(value)
  const fault = findTypeFault(value, type, schema, path)
  if (fault !== undefined) return [fault]
  return [
    ...validateSelf(value, type, schema, path),
    ...validateMembers(value, schema, path, before?.value),
    ...validateChoices(value, schema, path),
  ]
}

type JsonType = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string'

function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as 'boolean' | 'object' | 'string'
}

function findTypeFault(value: unknown, type: JsonType, schema: Schema, path: FieldPath): Violation | undefined {
  const allowed = isIntOrString(schema) ? ['integer', 'string'] : schema.type ? [schema.type] : []
  const isFine = allowed.length === 0 || allowed.includes(type) || (type === 'integer' && allowed.includes('number'))
  if (isFine) return undefined
  const said = `${path.toString()} in body must be of type ${allowed.join(',')}: "${type}"`
  return { path, rule: `Invalid value: ${JSON.stringify(type)}: ${said}`, reason: 'FieldValueTypeInvalid', value }
}

function validateSelf(value: unknown, type: JsonType, schema: Schema, path: FieldPath): readonly Violation[] {
  const problems = new ProblemList()
  const wrong = (why: string) => problems.invalid(path, value, `${path.toString()} in body ${why}`)
  if (schema.enum !== undefined && !schema.enum.some((each) => sameValue(each, value))) {
    problems.unsupported(
      path,
      value,
      schema.enum.map((each) => (typeof each === 'string' ? each : (formatExactJson(each) ?? ''))),
    )
  }
  if (type === 'string') validateText(value as string, schema, path, problems, wrong)
  if (type === 'integer' || type === 'number') {
    validateNumber(value as number | bigint, schema, wrong)
    if (schema.format === 'int32' && Math.abs(Number(value)) > 2 ** 31) {
      problems.invalid(NOWHERE, value, 'Checked value must be of type integer with format int32')
    }
  }
  if (type === 'array') validateList(value as readonly unknown[], schema, path, problems, wrong)
  if (type === 'object') validateObject(value as object, schema, path, problems, wrong)
  return problems.violations
}

type Wrong = (why: string) => void

function validateText(value: string, schema: Schema, path: FieldPath, problems: ProblemList, wrong: Wrong): void {
  const { minLength, maxLength, pattern, format } = schema
  const length = Array.from(value).length
  if (maxLength !== undefined && length > maxLength) problems.tooLong(path, Number(maxLength))
  if (minLength !== undefined && length < minLength) wrong(`should be at least ${minLength} chars long`)
  if (pattern && !matchesPattern(pattern, value)) wrong(`should match '${pattern}'`)
  if (!format || hasFormat(value, format)) return
  const said = `${path.toString()} in body must be of type ${format}: ${JSON.stringify(value)}`
  problems.violations.push({
    path,
    rule: `Invalid value: ${JSON.stringify(value)}: ${said}`,
    reason: 'FieldValueTypeInvalid',
  })
}

function validateNumber(value: number | bigint, schema: Schema, wrong: Wrong): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    wrong(`should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`)
  }
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    wrong(`should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`)
  }
  if (multipleOf === undefined) return
  const times = Number(value) / multipleOf
  if (Math.abs(times - Math.round(times)) > 1e-9) wrong(`should be a multiple of ${multipleOf}`)
}

function validateList(
  list: readonly unknown[],
  schema: Schema,
  path: FieldPath,
  problems: ProblemList,
  wrong: Wrong,
): void {
  const { minItems, maxItems } = schema
  if (minItems !== undefined && list.length < minItems) wrong(`should have at least ${minItems} items`)
  if (maxItems !== undefined && list.length > maxItems) problems.tooMany(path, list.length, Number(maxItems))
}

function validateObject(object: object, schema: Schema, path: FieldPath, problems: ProblemList, wrong: Wrong): void {
  const { minProperties, maxProperties, required = [] } = schema
  const count = Object.keys(object).length
  for (const name of required) if (!Object.hasOwn(object, name)) problems.required(path.child(name))
  if (minProperties !== undefined && count < minProperties) wrong(`should have at least ${minProperties} properties`)
  if (maxProperties !== undefined && count > maxProperties) problems.tooMany(path, count, Number(maxProperties))
}

function validateMembers(value: unknown, schema: Schema, path: FieldPath, before: unknown): readonly Violation[] {
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    if (items === undefined) return []
    const find = correlate(before, schema)
    return value.flatMap((item, index) => validateValue(item, items, path.index(index), find(item)))
  }
  if (!isRecord(value)) return []
  const values = valuesOf(schema)
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = propertyOf(schema, name) ?? (typeof values === 'object' ? values : undefined)
    if (inner === undefined) return []
    const old = isRecord(before) && Object.hasOwn(before, name) ? { value: before[name] } : undefined
    return validateValue(member, inner, path.child(name), old)
  })
}

/** Which item of the list before an item was: by its keys where the list has some. */
function correlate(before: unknown, schema: Schema) {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return (item: unknown): { readonly value: unknown } | undefined => {
    if (!Array.isArray(before) || schema['x-kubernetes-list-type'] !== 'map' || !isRecord(item)) return undefined
    const old: unknown = before.find((each) => isRecord(each) && keys.every((key) => sameValue(each[key], item[key])))
    return old === undefined ? undefined : { value: old }
  }
}

function validateChoices(value: unknown, schema: Schema, path: FieldPath): readonly Violation[] {
  const problems = new ProblemList()
  const nowhere = (why: string) => problems.invalid(NOWHERE, '', `"${path.toString()}" must ${why}`)
  const resultsOf = (schemas: readonly Schema[] | undefined) =>
    (schemas ?? []).map((each) => validateValue(value, each, path))
  const [any, one, all] = [resultsOf(schema.anyOf), resultsOf(schema.oneOf), resultsOf(schema.allOf)]
  if (any.length > 0 && !any.some(isEmpty)) {
    nowhere('validate at least one schema (anyOf)')
    problems.violations.push(...closest(any))
  }
  const valid = one.filter(isEmpty).length
  if (one.length > 0 && valid !== 1) {
    nowhere(
      `validate one and only one schema (oneOf). Found ${valid === 0 ? 'none valid' : `${valid} valid alternatives`}`,
    )
    if (valid === 0) problems.violations.push(...closest(one))
  }
  problems.violations.push(...all.flat())
  if (!all.every(isEmpty)) {
    nowhere(`validate all the schemas (allOf)${all.some(isEmpty) ? '' : '. None validated'}`)
  }
  if (schema.not !== undefined && validateValue(value, schema.not, path).length === 0) {
    nowhere('not validate the schema (not)')
  }
  return problems.violations
}

function isEmpty(violations: readonly Violation[]): boolean {
  return violations.length === 0
}

function closest(results: readonly (readonly Violation[])[]): readonly Violation[] {
  return results.reduce((best, each) => (each.length < best.length ? each : best), results[0] ?? [])
}

/** Items of sets and of lists with keys that are there twice, and embedded objects without what every object has. */
export function validateExtensions(value: unknown, schema: Schema, path = FieldPath.root): readonly Violation[] {
  const problems = new ProblemList()
  walk(value, schema, path, problems)
  return problems.violations
}

function walk(value: unknown, schema: Schema, path: FieldPath, problems: ProblemList): void {
  if (Array.isArray(value)) {
    validateUnique(value, schema, path, problems)
    const items = itemsOf(schema)
    if (items !== undefined) value.forEach((item, index) => walk(item, items, path.index(index), problems))
    return
  }
  if (!isRecord(value)) return
  if (isEmbedded(schema)) {
    for (const name of ['apiVersion', 'kind'])
      if (!value[name]) problems.required(path.child(name), 'must not be empty')
  }
  const values = valuesOf(schema)
  for (const [name, member] of Object.entries(value)) {
    const inner = propertyOf(schema, name)
    if (inner !== undefined) walk(member, inner, path.child(name), problems)
    else if (typeof values === 'object') walk(member, values, path.key(name), problems)
  }
}

function validateUnique(list: readonly unknown[], schema: Schema, path: FieldPath, problems: ProblemList): void {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const identify = (item: unknown): unknown =>
    type === 'set' || !isRecord(item)
      ? item
      : Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]))
  const seen = new Set<string>()
  for (const [index, item] of list.entries()) {
    const identity = identify(item)
    const text = canonicalText(identity)
    if (seen.has(text)) problems.duplicate(path.index(index), identity)
    seen.add(text)
  }
}

/** The same for values that are the same, whatever the order of their keys. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (!isRecord(value)) return formatExactJson(value) ?? 'null'
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`)
  return `{${members.join(',')}}`
}

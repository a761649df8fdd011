import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { formatPath } from './field-set.ts'
import { elementOf, ItemProblem } from './list-items.ts'
import { memberSchema, resolveSchema } from './merge-schema.ts'
import type { ListSchema, MapSchema, MergeSchema, ScalarSchema } from './merge-schema.ts'

/** What does not fit its schema, each with its path; clients match on the texts. */
export function checkValue(value: DocumentValue, schema: MergeSchema): readonly string[] {
  const problems: string[] = []
  check(problems, value, schema, '')
  return problems
}

function check(problems: string[], value: DocumentValue, schema: MergeSchema, path: string): void {
  if (value === null) return
  const resolved = resolveSchema(schema, value)
  const report = (text: string) => problems.push(path === '' ? text : `${path}: ${text}`)
  switch (resolved.kind) {
    case 'scalar': {
      const problem = checkScalar(value, resolved)
      if (problem !== undefined) report(problem)
      return
    }
    case 'map':
      if (isRecord(value)) checkMap(problems, value, resolved, path)
      else report(`expected map, got ${shown(value)}`)
      return
    case 'list':
      if (Array.isArray(value)) checkList(problems, value as readonly DocumentValue[], resolved, path)
      else report(`expected list, got ${shown(value)}`)
  }
}

function checkMap(problems: string[], value: DocumentObject, schema: MapSchema, path: string): void {
  for (const [name, member] of Object.entries(value)) {
    const inner = memberSchema(schema, name)
    const place = `${path}.${name}`
    if (inner === undefined) {
      problems.push(`${place}: field not declared in schema`)
      return
    }
    check(problems, member, inner, place)
  }
}

function checkList(problems: string[], list: readonly DocumentValue[], schema: ListSchema, path: string): void {
  const seen = new Set<string>()
  for (const [index, item] of list.entries()) {
    try {
      const element = schema.relation === 'atomic' ? `i:${index}` : elementOf(schema, item)
      const place = formatPath([element])
      if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${place}`)
      seen.add(element)
      check(problems, item, schema.items, `${path}${place}`)
    } catch (error) {
      if (!(error instanceof ItemProblem)) throw error
      problems.push(`${path}: element ${index}: ${error.message}`)
      return
    }
  }
}

function checkScalar(value: DocumentValue, { of }: ScalarSchema): string | undefined {
  const type = typeof value
  const isNumber = type === 'number' || type === 'bigint'
  switch (of) {
    case 'numeric':
      return isNumber ? undefined : `expected numeric (int or float), got ${goType(value)}`
    case 'string':
      return type === 'string' ? undefined : `expected string, got ${shown(value)}`
    case 'boolean':
      return type === 'boolean' ? undefined : `expected boolean, got ${shown(value)}`
    case 'untyped':
      return type === 'object' ? `expected any scalar, got ${shown(value)}` : undefined
  }
}

/** The names that the API gives the types of values. */
function goType(value: DocumentValue): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** A value as the API shows it in these texts. */
function shown(value: DocumentValue): string {
  return `&{${plain(value)}}`
}

function plain(value: DocumentValue): string {
  if (Array.isArray(value)) return `[${(value as readonly DocumentValue[]).map(plain).join(' ')}]`
  if (!isRecord(value)) return typeof value === 'string' ? value : formatExactJson(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `map[${fields.map(([name, member]) => `${name}:${plain(member)}`).join(' ')}]`
}
